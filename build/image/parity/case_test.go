package parity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The hand-made cases are there in the number that was promised, and none of them
// is written wrongly.
func TestCasesParse(t *testing.T) {
	cases, err := Cases("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 250 {
		t.Errorf("%d cases, want at least 250", len(cases))
	}
	for _, c := range cases {
		for _, f := range c.files {
			if f.Name != "!context" && !strings.HasSuffix(f.Name, "!tar") {
				continue
			}
			for _, line := range specLines(string(f.Data)) {
				switch word, _, _ := strings.Cut(line, " "); word {
				case "format", "global", "raw":
					continue
				}
				if _, err := parseEntry(line); err != nil {
					t.Errorf("%s: %s: %v", c.Name, f.Name, err)
				}
			}
		}
	}
}

func TestBasesOfTestdataBuild(t *testing.T) {
	files, err := filepath.Glob("testdata/bases/*.base")
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := parseBase(string(data))
		if err != nil {
			t.Fatal(f, err)
		}
		tree := NewTree()
		for _, l := range b.layers {
			layer, err := tarOf(l.lines)
			if err != nil {
				t.Fatal(f, err)
			}
			if err := tree.Apply(layer); err != nil {
				t.Error(f, err)
			}
		}
		a, err := b.build()
		if err != nil {
			t.Fatal(f, err)
		}
		if want := len(b.platforms) + 1; len(a.manifests) != want && !b.single {
			t.Errorf("%s: %d manifests, want %d", f, len(a.manifests), want)
		}
	}
}

func TestParseCaseRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, text := range []string{
		"platform: linux/amd64\n-- Dockerfile --\nFROM scratch\n", "no directive\n-- Dockerfile --\nFROM scratch\n",
		"-- dockerfile --\nFROM scratch\n", "file: x\n-- Dockerfile --\nFROM scratch\n",
	} {
		if _, err := ParseCase("x", []byte(text)); err == nil {
			t.Errorf("%q is a case", text)
		}
	}
	for _, line := range []string{"file", "thing x", "file x 9", "file x a:b", "file x what=1", `file "x`, "chr x dev=a"} {
		if e, err := parseEntry(line); err == nil {
			t.Errorf("%q is %+v", line, e)
		}
	}
}

func TestTableRowsBecomeCases(t *testing.T) {
	cases, err := parseTable("t", []byte(`
# all
arg: A=1
-- a --
shared
-- b --
shared
-- !table --
= one
FROM scratch
COPY a /x
= two
platforms: linux/s390x
refuses: because
FROM scratch
LABEL k: v
+++ b
own
`))
	if err != nil || len(cases) != 2 {
		t.Fatal(cases, err)
	}
	one, two := cases[0], cases[1]
	if one.Name != "t_one" || one.Refuses != "" || len(one.Platforms) != 2 || one.Args[0] != "A=1" {
		t.Errorf("one is %+v", one)
	}
	if two.Refuses != "because" || two.Platforms[0] != "linux/s390x" {
		t.Errorf("two is %+v", two)
	}
	dir := t.TempDir()
	if err := two.write(t.Context(), dir, places{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "shared\n", "b": "own\n", "Dockerfile": "FROM scratch\nLABEL k: v\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestWriteMakesWhatEntriesSay(t *testing.T) {
	c, err := ParseCase("x", []byte(`-- Dockerfile --
FROM BASE/own
FROM BASE/common
ADD URL/x
-- own!base --
layer gzip
file x
-- run --
text
-- t.tar.gz!tar --
file x
-- !context --
file run 4711
dir private 0700
file "private/sp ace" 0000
sym l to=/nowhere
hard h to=run
fifo p 0620
sock s
`))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := c.write(t.Context(), dir, places{common: "r/c/", own: "r/o/", url: "http://u/"}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "Dockerfile")); string(got) != "FROM r/o/own\nFROM r/c/common\nADD http://u/x\n" {
		t.Errorf("Dockerfile is %q", got)
	}
	for name, want := range map[string]string{
		"run": "urwx--x--x", "h": "urwx--x--x", "private": "drwx------", "private/sp ace": "----------",
		"l": "Lrwxrwxrwx", "p": "prw--w----", "s": "Srw-r--r--", "t.tar.gz": "-rw-r--r--",
	} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := info.Mode().String(); got != want && name != "l" {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
		if info.ModTime().Before(firstContextTime) || info.ModTime().Year() > 2019 {
			t.Errorf("%s is of %s", name, info.ModTime())
		}
	}
	a, _ := os.Stat(filepath.Join(dir, "run"))
	b, _ := os.Stat(filepath.Join(dir, "h"))
	if !os.SameFile(a, b) {
		t.Error("run and h are two files")
	}
}
