//go:build unix && !linux

package cache

import (
	"os"
	"testing"
)

// refuseWrites makes that nobody but root can write to dir.
func refuseWrites(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	must(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { must(t, os.Chmod(dir, 0o700)) })
}
