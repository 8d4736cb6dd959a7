package cache

import (
	"os"
	"syscall"
	"testing"
)

// refuseWrites makes that nobody can write to dir. Root, whom no mode keeps
// out, gets the directory on a file system that is read alone.
func refuseWrites(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		must(t, os.Chmod(dir, 0o500))
		t.Cleanup(func() { must(t, os.Chmod(dir, 0o700)) })
		return
	}
	must(t, syscall.Mount(dir, dir, "", syscall.MS_BIND, ""))
	t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
	must(t, syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
}
