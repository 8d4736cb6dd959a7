package verify

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// edited is a file with edits; equal ones count once.
func edited(data string, list []Edit) string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	list = slices.Compact(list)
	for _, e := range slices.Backward(list) {
		data = data[:e.Start] + e.New + data[e.End:]
	}
	return data
}

func TestEditsOfConstantsMakeTheFileRight(t *testing.T) {
	without := []string{"arg_global", "exec_form", "variable", "env_variable", "install", "install_cross"}
	cases, _ := filepath.Glob("testdata/HardcodedGoarch/*.txtar")
	for _, name := range cases {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		a := txtar.Parse(data)
		r := newRepo(t, a.Comment, a.Files)
		s, err := r.subject(t, "app")
		if err != nil {
			t.Fatal(err)
		}
		findings := Check([]Subject{s}, r.options(t, "HardcodedGoarch"))
		if len(findings) == 0 {
			continue
		}
		edits := findings[0].Edits
		if is := strings.TrimSuffix(filepath.Base(name), ".txtar"); slices.Contains(without, is) {
			if edits != nil {
				t.Errorf("%s: %+v", name, edits)
			}
			continue
		}
		text := string(s.Recipes[0].File.Data)
		now := edited(text, edits)
		if len(edits) == 0 || strings.Count(now, "\r") != strings.Count(text, "\r")+strings.Count(now, "\n")-strings.Count(text, "\n") && strings.Contains(text, "\r") {
			t.Errorf("%s: %q", name, now)
		}
		r.write(t, "Dockerfile", []byte(now))
		again, err := r.subject(t, "app")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if left := Check([]Subject{again}, r.options(t, "HardcodedGoarch")); slices.ContainsFunc(left, func(f Finding) bool { return f.Severity == Error }) {
			t.Errorf("%s: after the edits: %+v", name, left)
		}
	}
}

func TestEditsTouchOnlyWhatTheCompilerHears(t *testing.T) {
	text := "FROM --platform=$BUILDPLATFORM golang AS b # GOARCH=amd64\n"
	text = strings.ReplaceAll(text, " # GOARCH=amd64", "") + "# GOARCH=amd64\nCOPY . .\n" +
		"RUN GOARCH=amd64 go run ./gen && \\\n # GOARCH=amd64 below\n GOARCH='amd64' go build -o /app\nFROM scratch\nCOPY --from=b /app /app\n"
	got, _ := check(t, "", file("Dockerfile", text))
	if !slices.Equal(rules(got), []string{"HardcodedGoarch"}) {
		t.Fatalf("got %+v", got)
	}
	want := strings.Replace(strings.Replace(text, "'amd64'", "${TARGETARCH}", 1), "AS b\n", "AS b\nARG TARGETARCH\n", 1)
	if now := edited(text, got[0].Edits); now != want {
		t.Errorf("got %s\nwant %s", now, want)
	}
}
