package verify

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A fix that stands for the instruction is checked by taking it at its word.
func TestFixesOfInstructionsVerifyClean(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*/*.txtar")
	fixed := 0
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
		findings := Check([]Subject{s}, r.options(t, ""))
		if !apply(t, r, s, findings) {
			continue
		}
		fixed++
		again, err := r.subject(t, "app")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, f := range Check([]Subject{again}, r.options(t, "")) {
			switch {
			case f.Rule == "UnknownBinary": // of files that the case does not have
			case f.Rule == "GlobbedBinary" && path.Base(path.Dir(filepath.ToSlash(name))) == "IgnoredBinary": // the next to fix
			default:
				t.Errorf("%s: after the fix: %+v", name, f)
			}
		}
	}
	if fixed < 60 {
		t.Errorf("only %d cases have a fix to try", fixed)
	}
}

// apply writes what the findings say, and reports whether all of them say it in
// a form that can be.
func apply(t *testing.T, r *repo, s Subject, findings []Finding) bool {
	t.Helper()
	if len(findings) == 0 {
		return false
	}
	lines := strings.Split(string(s.Recipes[0].File.Data), "\n")
	ignore := ""
	insert := map[int]string{}
	for _, f := range slices.Backward(findings) {
		for text := range strings.Lines(f.Fix) {
			text = strings.TrimSuffix(text, "\n")
			if rest, ok := strings.CutPrefix(text, "after line "); ok {
				n, arg, _ := strings.Cut(rest, " ")
				_, arg, _ = strings.Cut(arg, "): ")
				at, err := strconv.Atoi(n)
				if err != nil {
					t.Fatalf("%q: %v", f.Fix, err)
				}
				insert[at] += arg + "\n"
			} else if rest, ok := strings.CutPrefix(text, "at the end of "); ok {
				_, line, _ := strings.Cut(rest, ": ")
				ignore += line + "\n"
			}
		}
		switch {
		case f.Fix == "" || strings.Contains(f.Fix, " instead of "):
			return false
		case strings.HasPrefix(f.Fix, "after "), strings.HasPrefix(f.Fix, "at the end "):
		default:
			text, _, _ := strings.Cut(f.Fix, "\nat the end of ")
			lines[f.Start.Line-1] = text
			for n := f.Start.Line; n < f.End.Line; n++ {
				lines[n] = ""
			}
		}
	}
	var out strings.Builder
	for i, l := range lines {
		out.WriteString(l + "\n" + insert[i+1])
	}
	r.write(t, findings[0].File, []byte(out.String()))
	if ignore != "" {
		name := s.Recipes[0].Ignore.Path
		data, _ := os.ReadFile(filepath.Join(r.root, name))
		r.write(t, name, append(data, ignore...))
	}
	return true
}
