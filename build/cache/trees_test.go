package cache

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// grow makes a tree of one file in a directory, last used some time ago.
func grow(t *testing.T, trees Trees, key string, size int, ago time.Duration) string {
	t.Helper()
	dir, release, err := trees.Use(key)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	file := filepath.Join(dir, "linux-amd64", "app")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, make([]byte, size), 0o700); err != nil {
		t.Fatal(err)
	}
	age(t, filepath.Dir(file), ago)
	age(t, dir, ago)
	return file
}

func exist(paths ...string) (there []string) {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			there = append(there, path)
		}
	}
	return there
}

func TestTreesAreBoundedInAgeAndSize(t *testing.T) {
	tr := Trees{Dir: filepath.Join(t.TempDir(), "compile"), Limit: 4 * 4096, Age: 30 * fresh}
	now := grow(t, tr, "now", 3*4096, time.Hour)
	large := grow(t, tr, "large", 2*4096, 2*time.Hour)
	small := grow(t, tr, "small", 4096, 3*time.Hour)
	old := grow(t, tr, "old", 0, 31*fresh)
	tr.Prune()
	same(t, "left", exist(now, large, small, old), now, small)
	if u := tr.Usage(); u != (Usage{2, 4 * 4096}) {
		t.Errorf("holds %+v", u)
	}
	// Being looked at is no use.
	info, err := os.Stat(tr.Path("small"))
	if err != nil || time.Since(info.ModTime()) < 3*time.Hour {
		t.Errorf("used %v, %v", info.ModTime(), err)
	}
	tr.Limit = 4096
	tr.Prune()
	same(t, "the last one", exist(now, small), now)
}

func TestWhatIsOldInATreeThatIsUsedGoes(t *testing.T) {
	tr := Trees{Dir: filepath.Join(t.TempDir(), "compile"), Age: 30 * fresh}
	file := grow(t, tr, "a", 0, time.Hour)
	other := filepath.Join(tr.Path("a"), "linux-arm64")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	age(t, other, 31*fresh)
	tr.Prune()
	same(t, "left", exist(file, other), file)
}

func TestClearRemovesTreesAlone(t *testing.T) {
	tr := Trees{Dir: filepath.Join(t.TempDir(), "compile")}
	grow(t, tr, "a", 1, 0)
	grow(t, tr, "b", 4097, 0)
	notes := filepath.Join(tr.Dir, "notes", "file")
	if err := os.MkdirAll(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	freed, err := tr.Clear()
	if want := (Usage{2, 3 * 4096}); err != nil || freed != want {
		t.Errorf("freed %+v, %v", freed, err)
	}
	same(t, "left", list(t, tr.Dir), "notes")
}

func TestRemoveRemovesOne(t *testing.T) {
	tr := Trees{Dir: filepath.Join(t.TempDir(), "compile")}
	a, b := grow(t, tr, "a", 1, 0), grow(t, tr, "b", 1, 0)
	for range 2 {
		if err := tr.Remove("a"); err != nil {
			t.Error(err)
		}
	}
	same(t, "left", exist(a, b), b)
}

func TestWithoutADirectoryThereAreNoTrees(t *testing.T) {
	t.Chdir(t.TempDir())
	var tr Trees
	if _, _, err := tr.Use("a"); err == nil {
		t.Error("used")
	}
	freed, err := tr.Clear()
	tr.Prune()
	if err != nil || freed != (Usage{}) || tr.Remove("a") != nil || tr.Usage() != (Usage{}) {
		t.Errorf("%+v, %v", freed, err)
	}
	same(t, "left", list(t, "."))
}
