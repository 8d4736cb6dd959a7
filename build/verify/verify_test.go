package verify

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// check judges a Dockerfile beside other files, as image app.
func check(t *testing.T, comment string, files ...txtar.File) ([]Finding, Subject) {
	t.Helper()
	r := newRepo(t, []byte(comment), files)
	s, err := r.subject(t, "app")
	if err != nil {
		t.Fatal(err)
	}
	return Check([]Subject{s}, r.options(t, "")), s
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

func TestJSONHasExactlyTheseKeys(t *testing.T) {
	got, _ := check(t, "platforms: linux/amd64 linux/arm/v7", file("Dockerfile", "FROM scratch\n  COPY bin/app /app\n"))
	var out bytes.Buffer
	if err := WriteJSON(&out, got); err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": 1,
  "findings": [
    {
      "rule": "ArchBlindCopy",
      "severity": "error",
      "file": "Dockerfile",
      "start": {
        "line": 2,
        "column": 3
      },
      "end": {
        "line": 2,
        "column": 20
      },
      "image": "app",
      "platforms": [
        "linux/amd64",
        "linux/arm/v7"
      ],
      "message": "linux/amd64 and linux/arm/v7 copy the same bin/app",
      "fix": "ARG TARGETARCH\nCOPY bin/app-linux-${TARGETARCH} /app",
      "url": "https://github.com/archmage-go/archmage/blob/main/docs/rules/ArchBlindCopy.md"
    }
  ]
}
`
	if out.String() != want {
		t.Errorf("got %s", out.String())
	}
}

func TestJSONWithoutFindingsIsAnEmptyList(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, nil); err != nil || out.String() != "{\n  \"version\": 1,\n  \"findings\": []\n}\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestTextHasNoControlCharacters(t *testing.T) {
	got, s := check(t, "", file("Dockerfile", "FROM scratch\nCOPY bin/app /\x1b[31mapp\u009b\n"))
	var out bytes.Buffer
	if err := WriteText(&out, got, []Subject{s}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || strings.ContainsAny(out.String(), "\x1b\u009b") || !strings.Contains(out.String(), "?[31mapp?") {
		t.Errorf("got %q", out.String())
	}
}

func TestSeverityAndRuleAreMarked(t *testing.T) {
	got, s := check(t, "lint: yes", file("Dockerfile", "FROM scratch\nCOPY bin/app /app\nMAINTAINER me\n"))
	var out, plain bytes.Buffer
	mark := func(s Severity, text string) string { return string(s[0]) + "<" + text + ">" }
	if err := WriteMarked(&out, got, []Subject{s}, mark); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "Dockerfile:2:1: e<error ArchBlindCopy> (app): ") || !strings.Contains(out.String(), "Dockerfile:3:1: w<warning MaintainerDeprecated> (app): ") {
		t.Errorf("got %s", out.String())
	}
	if _ = WriteText(&plain, got, []Subject{s}); strings.NewReplacer("e<", "", "w<", "", "> (", " (").Replace(out.String()) != plain.String() {
		t.Errorf("otherwise it differs: %s", out.String())
	}
}

func TestLongInstructionsAreCut(t *testing.T) {
	text := "FROM scratch\nCOPY \\\n" + strings.Repeat("  # a line\n", 40) + "  bin/app /app\n"
	got, s := check(t, "", file("Dockerfile", text))
	var out bytes.Buffer
	if err := WriteText(&out, got, []Subject{s}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n > excerpt+5 {
		t.Errorf("%d lines:\n%s", n, out.String())
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

func TestSeverityAndPlatformsAreText(t *testing.T) {
	data, err := json.Marshal(Finding{Severity: Warning, Platforms: []platform.Platform{{OS: "linux", Arch: "arm", Variant: "v6"}}})
	if err != nil || !bytes.Contains(data, []byte(`"severity":"warning"`)) || !bytes.Contains(data, []byte(`["linux/arm/v6"]`)) {
		t.Errorf("got %s, %v", data, err)
	}
}
