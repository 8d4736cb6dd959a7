// Package files writes files that others may read at any time, and cleans up
// after processes that were killed while they did.
package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Prefix begins the names of files that are being written.
const Prefix = ".tmp-"

// old is an age at which a file is given up where the file system knows no locks.
const old = time.Hour

// Replace gives path the content that write writes, all of it or none, by way
// of a temporary file beside it, and mode 0644. Missing directories are made.
func Replace(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, unlock, err := create(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer unlock() // once it has its name
	err = write(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// create makes a temporary file that [Sweep] leaves alone until unlock.
func create(dir string) (f *os.File, unlock func(), err error) {
	for range 100 { // an end, should names and files never agree here
		if f, err = os.CreateTemp(dir, Prefix); err != nil {
			return nil, nil, err
		}
		unlock = keep(f.Name())
		// Between these two somebody may have taken it for abandoned.
		if is(f) {
			return f, unlock, nil
		}
		unlock()
		f.Close()
	}
	return nil, nil, &os.PathError{Op: "create", Path: filepath.Join(dir, Prefix), Err: os.ErrNotExist}
}

// is reports whether f's name still names it.
func is(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(mine, there)
}

// Sweep removes the temporary files in dir that nobody writes any more: their
// process was killed. Failing to is no error, since it costs space alone.
func Sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), Prefix) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		sweep(filepath.Join(dir, e.Name()), err == nil && time.Since(info.ModTime()) > old)
	}
}
