package cache

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
)

// A disk that is really full.
func TestAFullFileSystemIsNoError(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("only root may mount: ", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
	s := Store{Dir: filepath.Join(dir, "facts")}
	must(t, writeLargeAndSmall(s, 64<<10))
	for i := range 40 { // until nothing is left
		s.Put(fmt.Sprint("filler ", i), nil)
	}
	must(t, right(s, 1))
	if got, ok := s.Get("small"); !ok || string(got) != "large" {
		t.Errorf("%q, %v", got, ok)
	}
	useFull(t, s)
}

// useFull frees a full disk.
func useFull(t *testing.T, s Store) {
	t.Helper()
	full := s.Usage()
	if full.Entries > 16 {
		t.Errorf("%+v on 64 KiB", full)
	}
	s.Limit = 4 * 4096
	s.Prune()
	if u := s.Usage(); u.Bytes > s.Limit {
		t.Errorf("%+v after pruning", u)
	}
	s.Put("after", nil)
	if _, ok := s.Get("after"); !ok {
		t.Error("of no use afterwards")
	}
}
