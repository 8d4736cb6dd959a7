package verify

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// repair runs a Repair on images, each a repo on the same files.
func repair(t testing.TB, repos []*repo, names []string) (Repaired, error) {
	t.Helper()
	return Repair{
		Images: len(repos),
		Check: func(i int, over map[string][]byte) (Judged, error) {
			s, err := repos[i].evaluate(t, names[i], over)
			if err != nil {
				return Judged{}, err
			}
			return Judged{Findings: Check([]Subject{s}, Options{}), Recipe: s.Recipes[0]}, nil
		},
		Names: func(file string) ([]string, error) { return []string{file}, nil },
		Read:  func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(repos[0].root, file)) },
	}.Run()
}

// images are the repos of a case: one image app, or one for each line
// "image: name [key=value…]" of its comment, whose settings come on top.
func images(t testing.TB, a *txtar.Archive) (list []*repo, names []string) {
	t.Helper()
	for line := range strings.Lines(string(a.Comment)) {
		rest, ok := strings.CutPrefix(line, "image: ")
		if !ok {
			continue
		}
		r := newRepo(t, a.Comment, a.Files)
		words := strings.Fields(rest)
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			r.settings[key] = []string{value}
		}
		if len(list) > 0 {
			r.root = list[0].root
		}
		list, names = append(list, r), append(names, words[0])
	}
	if list == nil {
		return []*repo{newRepo(t, a.Comment, a.Files)}, []string{"app"}
	}
	return list, names
}

// TestFixes repairs every repository in testdata/fix. The file want says what
// was fixed and what was not, and a file want/<name> is what became of <name>;
// a file without one must stay as it is. UPDATE=1 writes them anew.
func TestFixes(t *testing.T) {
	cases, err := filepath.Glob("testdata/fix/*/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/fix/"), ".txtar"), func(t *testing.T) {
			t.Parallel()
			testFix(t, file)
		})
	}
}

func testFix(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(data)
	var want []txtar.File
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool {
		is := f.Name == "want" || strings.HasPrefix(f.Name, "want/")
		if is {
			want = append(want, f)
		}
		return is
	})
	source := &txtar.Archive{Comment: a.Comment}
	for _, f := range a.Files {
		source.Files = append(source.Files, txtar.File{Name: f.Name, Data: decode(f.Data)})
	}
	repos, names := images(t, source)
	out, err := repair(t, repos, names)
	if err != nil {
		t.Fatal(err)
	}
	got := []txtar.File{{Name: "want", Data: []byte(tell(out))}}
	for _, name := range slices.Sorted(maps.Keys(out.Files)) {
		got = append(got, txtar.File{Name: "want/" + name, Data: encode(out.Files[name])})
		repos[0].write(t, name, out.Files[name])
	}
	again, err := repair(t, repos, names)
	if err != nil || len(again.Files) > 0 || tell(again) != unfixed(out) {
		t.Errorf("a second time: %v\n%s", err, tell(again))
	}
	if os.Getenv("UPDATE") != "" {
		a.Files = append(a.Files, got...)
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if g, w := txtar.Format(&txtar.Archive{Files: got}), txtar.Format(&txtar.Archive{Files: want}); !bytes.Equal(g, w) {
		t.Errorf("got:\n%s\nwant:\n%s", g, w)
	}
}

func tell(out Repaired) string {
	var b strings.Builder
	for _, f := range out.Fixed {
		fmt.Fprintf(&b, "fixed %s:%d %s (%s)\n", f.File, f.Start.Line, f.Rule, f.Image)
	}
	return b.String() + unfixed(out)
}

func unfixed(out Repaired) string {
	var b strings.Builder
	for _, f := range out.Left {
		fmt.Fprintf(&b, "left %s:%d %s (%s): %s\n", f.File, f.Start.Line, f.Rule, f.Image, f.Why)
	}
	return b.String()
}

// In a txtar file every line ends in a line feed and a byte order mark cannot be
// seen, so both are spelt out: ^M, ^BOM at the beginning, ^EOF at the end.
var spelling = []string{"^M\n", "\r\n", "^BOM", "\ufeff", "^EOF\n", ""}

func decode(data []byte) []byte {
	return []byte(strings.NewReplacer(spelling...).Replace(string(data)))
}

func encode(data []byte) []byte {
	text := strings.NewReplacer("\r\n", "^M\n", "\ufeff", "^BOM").Replace(string(data))
	if !strings.HasSuffix(text, "\n") {
		text += "^EOF\n"
	}
	return []byte(text)
}

// Every case of every rule is tried: whatever is changed is better after it.
func TestFixesOfAllCases(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*/*.txtar")
	fixed, left := map[string]int{}, 0
	for _, name := range cases {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		repos, names := images(t, txtar.Parse(data))
		out, err := repair(t, repos, names)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range out.Fixed {
			fixed[f.Rule]++
		}
		for _, f := range out.Left {
			left++
			t.Logf("%s: left %s: %s", name, f.Rule, f.Why)
		}
	}
	if left > 0 {
		t.Errorf("%d findings are left", left)
	}
	for _, rule := range []string{"ArchBlindCopy", "HardcodedGoarch", "IgnoredBinary", "PlatformArgDefault", "TargetArchUndeclared", "VariantCollision", "WrongArchPath"} {
		if fixed[rule] < 3 {
			t.Errorf("only %d of %s are fixed", fixed[rule], rule)
		}
	}
}
