package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Disk changes what outlasts a run: the files of a repository, of IMAGE_OUT, and
// those that CI reads. The zero value does. What a run needs for itself, such as
// temporary files, is no business of it.
type Disk struct {
	// Instead, where set, is told of each change, and nothing is changed. It
	// says what would be done to which file.
	Instead func(Change)
}

// Change is one file, or directory with all in it, that is not what it was.
type Change struct {
	Do   string // write, append, remove
	Path string
	Note string // what is not known before; or ""
}

// DryRun reports whether changes are told and not made. What a caller would read
// back is then not there.
func (d Disk) DryRun() bool { return d.Instead != nil }

// told reports whether a change was told, and therefore must not be made.
func (d Disk) told(do, path string) bool {
	if d.Instead == nil {
		return false
	}
	d.Instead(Change{Do: do, Path: path})
	return true
}

// MkdirAll makes a directory, whose first file is what is told of it.
func (d Disk) MkdirAll(dir string) error {
	if d.DryRun() {
		return nil
	}
	return os.MkdirAll(dir, 0o755)
}

// Write gives a file its content, with mode 0644 where it is new.
func (d Disk) Write(path string, data []byte) error {
	if d.told("write", path) {
		return nil
	}
	return os.WriteFile(path, data, 0o644)
}

// Replace is [Replace]; write is not called in a dry run.
func (d Disk) Replace(path string, write func(io.Writer) error) error {
	if d.told("write", path) {
		return nil
	}
	return Replace(path, write)
}

// Create makes a file that must not be there, and the directories it is in.
func (d Disk) Create(path string, data []byte) error {
	if _, err := os.Lstat(path); d.DryRun() && err == nil {
		return &os.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	if d.told("write", path) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Append adds text with one write, to a file that may not be there.
func (d Disk) Append(path, text string) error {
	if d.told("append", path) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Remove removes a file, or a directory that is empty by then.
func (d Disk) Remove(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return err
	}
	if d.told("remove", path) {
		return nil
	}
	return os.Remove(path)
}

// RemoveAll removes a directory with all in it; one that is not there is none to
// tell of.
func (d Disk) RemoveAll(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if d.told("remove", path) {
		return nil
	}
	return os.RemoveAll(path)
}

// Sweep is [Sweep], which tells nothing: those files were never anybody's.
func (d Disk) Sweep(dir string) {
	if !d.DryRun() {
		Sweep(dir)
	}
}
