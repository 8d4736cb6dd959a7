package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/config"

	"github.com/archmage-go/archmage/build/files"
)

func rewrite(t *testing.T, dir, name string, mode os.FileMode) *rewritten {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte("old"), mode); err != nil {
		t.Fatal(err)
	}
	return &rewritten{name: name, path: file, old: []byte("old"), new: []byte("new " + name)}
}

// content lists a directory's files with their content and modes.
func content(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		info, statErr := e.Info()
		if err != nil || statErr != nil {
			t.Fatal(err, statErr)
		}
		b.WriteString(info.Mode().String() + " " + e.Name() + ": " + string(data) + "\n")
	}
	return b.String()
}

func TestFilesAreReplacedWithTheirMode(t *testing.T) {
	dir := t.TempDir()
	list := []*rewritten{rewrite(t, dir, "a", 0o600), rewrite(t, dir, "b", 0o444)}
	if err := replaceAll(files.Disk{}, list); err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir); got != "-rw------- a: new a\n-r--r--r-- b: new b\n" {
		t.Errorf("%s", got)
	}
}

func TestNoFileIsReplacedWhereOneCannotBe(t *testing.T) {
	dir := t.TempDir()
	list := []*rewritten{rewrite(t, dir, "a", 0o600), rewrite(t, dir, "b", 0o600)}
	if err := os.WriteFile(list[1].path, []byte("newer"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := replaceAll(files.Disk{}, list)
	if err == nil || err.Error() != "write b: somebody else has changed it meanwhile" {
		t.Errorf("%v", err)
	}
	if got := content(t, dir); got != "-rw------- a: old\n-rw------- b: newer\n" {
		t.Errorf("%s", got)
	}
}

func TestFixStaysInTheRepository(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "repo")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	outside := rewrite(t, dir, "outside", 0o600)
	inside := rewrite(t, root, "Dockerfile", 0o600)
	real := func(file string) string {
		p, err := filepath.EvalSymlinks(file)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	f := fixer{
		Project: &Project{Settings: &config.Settings{Root: root}}, files: map[string]*rewritten{},
		names: map[string]string{"x": real(outside.path), "y": real(inside.path), "z": real(inside.path), "gone": ""},
	}
	for _, name := range []string{"x", "gone", "unknown"} {
		if _, err := f.aliases(name); err == nil || err.Error() != name+": lies outside the repository" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names, err := f.aliases("z"); err != nil || strings.Join(names, " ") != "y z" {
		t.Errorf("%q %v", names, err)
	}
}
