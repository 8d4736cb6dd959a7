//go:build unix

package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// trusted says why others may have written what is in a directory.
func trusted(dir fs.FileInfo) error {
	if s, ok := dir.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("belongs to user %d", s.Uid)
	}
	if dir.Mode().Perm()&0o022 != 0 {
		return errors.New("others may write to it")
	}
	return nil
}

func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "write", Path: dir, Err: err}
	}
	return nil
}

// share waits for who claimed f, and keeps everybody else from it.
func share(f *os.File) error { return flock(f, unix.LOCK_SH) }

// claim takes f for itself, unless somebody shares it. Where that cannot be known
// it goes by age.
func claim(f *os.File, old bool) bool {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	return err == nil || !errors.Is(err, unix.EWOULDBLOCK) && old
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
