package rootfs

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/archmage-go/archmage/build/files"
)

// contextStamp is the stamp of the file a of a context.
func contextStamp(t *testing.T, dir string) (Stamp, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	tree, err := Context(t.Context(), root, nil, nil)
	must(t, err)
	n, err := tree.Lstat("/a")
	must(t, err)
	return n.Data.(File).Stamp()
}

// Times can be set back, as tar and rsync do; the time of the change cannot.
func TestAStampShowsEveryChange(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("stamps are not known on " + runtime.GOOS)
	}
	dir := t.TempDir()
	p := filepath.Join(dir, "a")
	must(t, os.WriteFile(p, []byte("one"), 0o644))
	at := time.Unix(1_600_000_000, 0)
	stamp := func() Stamp {
		must(t, os.Chtimes(p, at, at))
		s, err := contextStamp(t, dir)
		must(t, err)
		if last := s.Inode.Last(); time.Since(last) > time.Hour {
			t.Errorf("changed at %v: the time that was set", last)
		}
		return s
	}
	first := stamp()
	if again, err := contextStamp(t, dir); err != nil || again != first {
		t.Errorf("unchanged: %v, error %v; was %v", again, err, first)
	}
	seen := map[Stamp]string{first: "as it was"}
	for _, change := range []struct {
		name string
		make func() error
	}{
		{"written in place", func() error { return os.WriteFile(p, []byte("two"), 0o644) }},
		{"replaced", func() error {
			return os.Rename(write(t, filepath.Join(dir, "new"), "two"), p)
		}},
		{"touched", func() error { at = at.Add(1); return nil }},
	} {
		tick(t, p)
		must(t, change.make())
		now := stamp()
		if was, ok := seen[now]; ok {
			t.Errorf("%s: the same stamp as %s", change.name, was)
		}
		seen[now] = change.name
	}
}

func write(t *testing.T, p, text string) string {
	t.Helper()
	must(t, os.WriteFile(p, []byte(text), 0o644))
	return p
}

// tick waits until the file system's clock has moved on since p changed.
func tick(t *testing.T, p string) {
	t.Helper()
	before, err := os.Stat(p)
	must(t, err)
	was, _ := files.InodeOf(before)
	for probe := filepath.Join(t.TempDir(), "probe"); ; {
		info, err := os.Stat(write(t, probe, "x"))
		must(t, err)
		if now, _ := files.InodeOf(info); now.Changed > was.Changed {
			return
		}
	}
}

func TestAFileOfAnotherSizeHasNoStamp(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	write(t, filepath.Join(dir, "a"), "one")
	tree, err := Context(t.Context(), root, nil, nil)
	must(t, err)
	n, err := tree.Lstat("/a")
	must(t, err)
	write(t, filepath.Join(dir, "a"), "longer")
	if s, err := n.Data.(File).Stamp(); err == nil {
		t.Errorf("stamp %v", s)
	}
}
