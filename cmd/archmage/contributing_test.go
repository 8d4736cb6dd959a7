package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// TestEveryDependencyHasItsReason compares the tables of CONTRIBUTING.md with
// what the module files of this repository require for themselves.
func TestEveryDependencyHasItsReason(t *testing.T) {
	const root = "../../"
	files := []string{root + "go.mod"}
	for _, pattern := range []string{"tools/*.mod", "scripts/*.mod"} {
		found, err := filepath.Glob(root + pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	listed := reasons(t, root+"CONTRIBUTING.md")
	for _, file := range files {
		name := filepath.ToSlash(strings.TrimPrefix(file, root))
		want := direct(t, file)
		got := listed[name]
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: CONTRIBUTING.md gives a reason for\n\t%s\nand required are\n\t%s",
				name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("CONTRIBUTING.md lists what %s requires, which is not there", name)
	}
}

// direct are the modules that a file requires for itself, sorted: those that are
// not marked as indirect, and those that its tools come from.
func direct(t *testing.T, file string) []string {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse(file, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, r := range mod.Require {
		provides := func(tool *modfile.Tool) bool { return strings.HasPrefix(tool.Path+"/", r.Mod.Path+"/") }
		if !r.Indirect || slices.ContainsFunc(mod.Tool, provides) {
			list = append(list, r.Mod.Path)
		}
	}
	slices.Sort(list)
	return list
}

var reasonRow = regexp.MustCompile("^\\| `([^`]+)` \\| .+ \\|$")

// reasons are the modules in the tables of a document, by the module file that
// the heading above each names.
func reasons(t *testing.T, document string) map[string][]string {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{}
	heading := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "### "); ok {
			heading = strings.Trim(name, "`")
			listed[heading] = nil
		} else if row := reasonRow.FindStringSubmatch(line); row != nil && strings.HasSuffix(heading, ".mod") {
			listed[heading] = append(listed[heading], row[1])
		}
	}
	return listed
}
