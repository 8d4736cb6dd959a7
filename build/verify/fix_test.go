package verify

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/archmage-go/archmage/build/dockerfile"
)

func TestApply(t *testing.T) {
	const text = "0123456789"
	edits := func(list ...Edit) Finding { return Finding{Rule: list[0].New, Edits: list} }
	for _, c := range []struct {
		name     string
		findings []Finding
		want     string
		left     []string
	}{
		{"nothing", []Finding{{}}, "", nil},
		{"one", []Finding{edits(Edit{"f", 2, 4, "x"})}, "01x456789", nil},
		{"several of one finding", []Finding{edits(Edit{"f", 8, 9, "y"}, Edit{"f", 2, 2, "x"})}, "01x234567y9", nil},
		{"once", []Finding{edits(Edit{"f", 2, 4, "x"}, Edit{"f", 0, 0, "A"}), edits(Edit{"f", 0, 0, "A"}), edits(Edit{"f", 2, 4, "x"})}, "A01x456789", nil},
		{"insertions at one place", []Finding{edits(Edit{"f", 10, 10, "x"}), edits(Edit{"f", 10, 10, "y"})}, "0123456789xy", nil},
		{"insertion before a change", []Finding{edits(Edit{"f", 2, 4, "x"}), edits(Edit{"f", 2, 2, "y"}, Edit{"f", 4, 4, "z"})}, "01yxz456789", nil},
		{"overlap", []Finding{edits(Edit{"f", 2, 4, "x"}), edits(Edit{"f", 3, 5, "y"}, Edit{"f", 0, 1, "!"}), edits(Edit{"f", 4, 5, "z"})}, "01xz56789", []string{"y"}},
		{"other text for one place", []Finding{edits(Edit{"f", 2, 4, "x"}), edits(Edit{"f", 2, 4, "y"})}, "01x456789", []string{"y"}},
		{"inside", []Finding{edits(Edit{"f", 2, 6, "x"}), edits(Edit{"f", 3, 3, "y"})}, "01x6789", []string{"y"}},
		{"another file", []Finding{edits(Edit{"f", 2, 4, "x"}), edits(Edit{"g", 2, 4, "y"})}, "01x456789", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Apply(c.findings, func(string) ([]byte, error) { return []byte(text), nil })
			if err != nil {
				t.Fatal(err)
			}
			var left []string
			for _, f := range got.Left {
				left = append(left, f.Rule)
			}
			if string(got.Files["f"]) != c.want || !slices.Equal(left, c.left) {
				t.Errorf("%q, left %q", got.Files["f"], left)
			}
		})
	}
}

func TestApplyChangesNothingOutsideTheFile(t *testing.T) {
	for _, e := range []Edit{{"f", 9, 11, ""}, {"f", -1, 2, ""}, {"f", 4, 2, ""}} {
		_, err := Apply([]Finding{{Edits: []Edit{e}}}, func(string) ([]byte, error) { return []byte("0123456789"), nil })
		if err == nil {
			t.Errorf("%+v is applied", e)
		}
	}
	gone := errors.New("gone")
	if _, err := Apply([]Finding{{Edits: []Edit{{"f", 0, 0, "x"}}}}, func(string) ([]byte, error) { return nil, gone }); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

// FuzzFix repairs whatever the front end accepts: no panic, edits inside the
// files, no more errors than before, only words of COPY, ADD and ARG changed,
// and nothing left to do.
func FuzzFix(f *testing.F) {
	cases, _ := filepath.Glob("testdata/fix/*/*.txtar")
	for _, name := range cases {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var seed [2]string
		for _, file := range txtar.Parse(data).Files {
			switch file.Name {
			case "Dockerfile":
				seed[0] = string(decode(file.Data))
			case ".dockerignore":
				seed[1] = string(decode(file.Data))
			}
		}
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, ignore string) {
		if len(text) > 4096 || len(ignore) > 512 || strings.HasPrefix(text, "-> ") || strings.HasPrefix(ignore, "-> ") {
			return
		}
		checkFix(t, text, ignore)
	})
}

// checkFix repairs an image in a repository of two commands and some programs,
// and reports whether anything was changed.
func checkFix(t *testing.T, text, ignore string) (fixed bool) {
	t.Helper()
	r := newRepo(t, []byte("platforms: linux/amd64 linux/arm/v6 linux/arm/v7\ncommands: app tool\nelf: bin/probe amd64\nelf: x/amd64 amd64\nelf: x/arm arm"),
		[]txtar.File{file("Dockerfile", text), file(".dockerignore", ignore)})
	before, err := r.subject(t, "app")
	if err != nil {
		return false
	}
	found := Check([]Subject{before}, Options{})
	for _, f := range found {
		for _, e := range f.Edits {
			if size := map[string]int{"Dockerfile": len(text), ".dockerignore": len(ignore)}[e.File]; e.Start < 0 || e.End < e.Start || e.End > size {
				t.Errorf("%+v of a file of %d bytes", e, size)
			}
		}
	}
	out, err := repair(t, []*repo{r}, []string{"app"})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Files) == 0 {
		return false
	}
	for name, data := range out.Files {
		r.write(t, name, data)
	}
	after, err := r.subject(t, "app")
	if err != nil {
		t.Fatalf("%v\n%s", err, out.Files["Dockerfile"])
	}
	left := Check([]Subject{after}, Options{})
	if errorsIn(left) > errorsIn(found) {
		t.Errorf("%d errors, %d before:\n%s", errorsIn(left), errorsIn(found), out.Files["Dockerfile"])
	}
	if again, err := repair(t, []*repo{r}, []string{"app"}); err != nil || len(again.Files) > 0 {
		t.Errorf("a second time: %v %q\nafter %q", err, again.Files, out.Files)
	}
	sameBut(t, before.Recipes[0].File, after.Recipes[0].File)
	if rest, ok := strings.CutPrefix(string(after.Recipes[0].Ignore.Data), ignore); !ok {
		t.Errorf("ignore file %q", rest)
	}
	return true
}

func errorsIn(findings []Finding) (n int) {
	for _, f := range findings {
		if f.Severity == Error {
			n++
		}
	}
	return n
}

// sameBut compares two files but for the words that a fix may change.
func sameBut(t *testing.T, before, after *dockerfile.File) {
	t.Helper()
	old, now := skeleton(before), skeleton(after)
	for _, line := range now {
		switch {
		case len(old) > 0 && old[0] == line:
			old = old[1:]
		case line != "ARG":
			t.Errorf("%q\nbecame\n%q", before.Data, after.Data)
			return
		}
	}
	if len(old) > 0 {
		t.Errorf("%q is gone from\n%q", old, after.Data)
	}
}

var goarchValue = regexp.MustCompile(`(GOARCH[= ])("[^"]*"|'[^']*'|[^\s;&|)"'\\]*)`)

// skeleton lists a file's instructions and what is between them. Of COPY, ADD
// and ARG, whose words may change, it is what does not, and so of GOARCH.
func skeleton(f *dockerfile.File) []string {
	var list []string
	at := 0
	all := slices.Clone(f.Global)
	for _, st := range f.Stages {
		all = append(append(all, st.From), st.Instructions...)
	}
	for _, ins := range all {
		if ins.OnBuild {
			continue
		}
		start, end := f.Offsets(ins.Range)
		if gap := strings.Trim(string(f.Data[at:start]), " \t\r\n"); gap != "" {
			list = append(list, gap)
		}
		at = end
		switch words, dest, ok := f.Operands(&ins); {
		case ins.Keyword == "ARG":
			list = append(list, "ARG")
		case ok && words[0].Start < words[0].End && dest.Start < dest.End:
			list = append(list, string(f.Data[start:words[0].Start]), string(f.Data[dest.End:end]))
		default:
			list = append(list, goarchValue.ReplaceAllString(ins.Text, "$1"))
		}
	}
	return append(list, strings.TrimLeft(string(f.Data[at:]), " \t\r\n"))
}
