//go:build unix

package files

import (
	"os"
	"syscall"
)

// keep locks a file, by a handle of its own, so that the file can be closed
// before it gets its name. The system unlocks it when the process dies.
func keep(name string) (unlock func()) {
	f, err := os.Open(name)
	if err != nil {
		return func() {}
	}
	_ = flock(f, syscall.LOCK_EX) // without locks only age tells
	return func() { f.Close() }
}

// sweep removes a file that nobody has locked; where that cannot be known, one
// that is old.
func sweep(name string, old bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK || err != nil && !old {
		return
	}
	if is(f) {
		os.Remove(name)
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}
