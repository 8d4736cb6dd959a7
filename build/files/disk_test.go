package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// change does everything that a Disk can do, on one file of each kind.
func change(d Disk, dir string) error {
	at := func(name string) string { return filepath.Join(dir, name) }
	return errors.Join(
		d.MkdirAll(at("made")),
		d.Write(at("written"), []byte("w")),
		d.Replace(at("replaced"), text("r")),
		d.Create(at("new/created"), []byte("c")),
		d.Append(at("appended"), "a"),
		d.Remove(at("old")),
		d.RemoveAll(at("olds")),
		d.RemoveAll(at("never")),
	)
}

func olds(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "old"), nil, 0o644), os.Mkdir(filepath.Join(dir, "olds"), 0o755), os.WriteFile(filepath.Join(dir, "olds/x"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDiskChangesFiles(t *testing.T) {
	dir := olds(t)
	if err := change(Disk{}, dir); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, dir), []string{"appended", "made", "new", "replaced", "written"}; !slices.Equal(got, want) {
		t.Errorf("there is %v, want %v", got, want)
	}
}

func TestDiskTellsAndChangesNothing(t *testing.T) {
	dir := olds(t)
	var told []string
	d := Disk{Instead: func(c Change) { told = append(told, c.Do+" "+filepath.Base(c.Path)) }}
	if err := change(d, dir); err != nil {
		t.Fatal(err)
	}
	want := []string{"write written", "write replaced", "write created", "append appended", "remove old", "remove olds"}
	if !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	if got, want := names(t, dir), []string{"old", "olds"}; !slices.Equal(got, want) {
		t.Errorf("there is %v, want %v", got, want)
	}
}

// A dry run fails where the run would.
func TestDiskFailsDryAsItDoesOtherwise(t *testing.T) {
	for _, d := range []Disk{{}, {Instead: func(c Change) { t.Errorf("told %v", c) }}} {
		dir := olds(t)
		if err := d.Create(filepath.Join(dir, "old"), nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("create: %v", err)
		}
		if err := d.Remove(filepath.Join(dir, "gone")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove: %v", err)
		}
	}
}
