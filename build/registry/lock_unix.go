//go:build unix

package registry

import (
	"os"
	"syscall"
)

// lock keeps other processes, and other goroutines of this one, from changing
// the layout's index. The system releases it when a process dies.
func (l *layout) lock() (unlock func(), err error) {
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(l.path(".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return func() { f.Close() }, nil
}
