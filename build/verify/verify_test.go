package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// check judges a Dockerfile beside other files, as image app.
func check(t *testing.T, comment string, files ...txtar.File) ([]Finding, Subject) {
	t.Helper()
	return Case(t, "", []byte(comment), files)
}

func file(name, text string) txtar.File { return txtar.File{Name: name, Data: []byte(text)} }

func rules(list []Finding) []string {
	var names []string
	for _, f := range list {
		names = append(names, f.Rule)
	}
	return names
}

func TestFindingsAreInFileOrderEachOnce(t *testing.T) {
	got, _ := check(t, "", file("Dockerfile", `ARG TARGETOS=darwin
FROM scratch
COPY bin/app-linux-${TARGETARCH} /a
ARG TARGETOS TARGETARCH
COPY bin/app-linux-amd64 bin/app /x/
`))
	want := []string{"PlatformArgDefault", "TargetArchUndeclared", "ArchBlindCopy", "WrongArchPath"}
	if !slices.Equal(rules(got), want) {
		t.Errorf("got %v, want %v", rules(got), want)
	}
}

func TestImagesOfOneDockerfileShareAFinding(t *testing.T) {
	r := newRepo(t, nil, []txtar.File{file("Dockerfile", "FROM scratch\nCOPY bin/app /app\n")})
	var subjects []Subject
	for _, image := range []string{"worker", "api", "api"} {
		s, err := r.subject(t, image)
		if err != nil {
			t.Fatal(err)
		}
		subjects = append(subjects, s)
	}
	got := Check(subjects, Options{})
	if len(got) != 1 || got[0].Image != "api,worker" {
		t.Errorf("got %+v", got)
	}

	subjects[0].Recipes = subjects[0].Recipes[1:]
	if got := Check(subjects[:2], Options{}); len(got) != 2 || got[0].Image != "api" || got[0].Rule != "ArchBlindCopy" {
		t.Errorf("one platform less: got %+v", got)
	}
}

func TestImagesOfOneDockerfileAreJudgedByTheirTargets(t *testing.T) {
	files := []txtar.File{file("Dockerfile", "FROM scratch AS a\nCOPY bin/app /app\nFROM scratch AS b\nARG TARGETARCH\nCOPY bin/app-linux-${TARGETARCH} /app\n")}
	if got, _ := check(t, "target: b", files...); len(got) != 0 {
		t.Errorf("b: %+v", got)
	}
	if got, _ := check(t, "target: a", files...); len(got) != 1 {
		t.Errorf("a: %+v", got)
	}
}

func TestNothingToJudge(t *testing.T) {
	for _, s := range []Subject{{}, {Recipes: []*dockerfile.Recipe{nil, {}}}, {Bin: "{os}/{name}", Recipes: []*dockerfile.Recipe{{File: &dockerfile.File{}, Result: dockerfile.Scratch}}}} {
		if got := Check([]Subject{s}, Options{}); len(got) != 0 {
			t.Errorf("%+v: %+v", s, got)
		}
	}
}

func TestRulesAreSortedAndDescribed(t *testing.T) {
	list := Rules()
	if len(list) != len(table()) || !slices.IsSortedFunc(list, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("got %+v", list)
	}
	for _, r := range list {
		if r.Severity != Error && r.Severity != Warning || r.Description == "" || strings.HasSuffix(r.Description, ".") {
			t.Errorf("%+v", r)
		}
	}
}
