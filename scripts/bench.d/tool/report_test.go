package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPageHasMarks holds that the page can be written anew, and that what is
// between its marks are tables with as many cells in each row as in their head.
func TestPageHasMarks(t *testing.T) {
	page, err := os.ReadFile("../../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), begin)
	written, _, _ := strings.Cut(rest, end)
	same, err := replace(string(page), written)
	if err != nil || same != string(page) {
		t.Fatalf("the page changes when the same is written: %v", err)
	}
	checkTables(t, written)
}

func checkTables(t *testing.T, text string) {
	t.Helper()
	cells := 0
	for n, line := range strings.Split(text, "\n") {
		switch here := strings.Count(line, "|"); {
		case !strings.HasPrefix(line, "|"):
			cells = 0
		case cells == 0:
			cells = here
		case here != cells:
			t.Errorf("line %d of the tables has %d cells, not %d: %s", n+1, here-1, cells-1, line)
		}
	}
}

func TestReplaceRefusesMarksThatAreNotThereOnce(t *testing.T) {
	for _, page := range []string{"", begin, end, end + begin, begin + end + begin + end} {
		if _, err := replace(page, "x"); err == nil {
			t.Errorf("%q was changed", page)
		}
	}
}

func TestRenderPairsRounds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"order":                                   "fleet/one-line/all\tarchmage\nfleet/one-line/all\tko\nfleet/memory/9 MB\tarchmage\n",
		"raw/fleet/one-line/all/archmage.1.json":  `{"results":[{"median":1,"user":2,"system":0.5}]}`,
		"raw/fleet/one-line/all/archmage.2.json":  `{"results":[{"median":9,"user":2,"system":0.5}]}`,
		"raw/fleet/one-line/all/ko.1.json":        `{"results":[{"median":2}]}`,
		"raw/fleet/one-line/all/ko.2.json":        `{"results":[{"median":10}]}`,
		"raw/fleet/one-line/all/ko.3.log":         "failed",
		"raw/fleet/memory/9 MB/archmage.1.time":   "\tMaximum resident set size (kbytes): 1000\n",
		"raw/fleet/one-line/all/archmage.1.bytes": "5e6\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cells, err := readResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := render(cells, "a machine")
	for _, want := range []string{
		"| one-line | fleet | ko | wall | 0.70 | 0.60 | no |\n", // of 0.5 and 0.9
		"| memory, 9 MB | fleet | - | rss | 1.0 MB | 200.0 MB | yes |\n",
		"| fleet | - | archmage | 5.00 s | 1.00 s–9.00 s | 2.50 s | - | bytes 5.0 MB |\n",
		"| fleet | - | ko | 6.00 s | 2.00 s–10.00 s | 0 ms | 0.70 × | - |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no line %sin:\n%s", want, text)
		}
	}
	checkTables(t, text)
}
