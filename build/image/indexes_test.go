package image

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/rootfs"
)

func TestWithIndexesABaseIsReadOnceForManyRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "made", "yet")
	l := tarLayer(t, "etc/", "etc/a=aaa", "etc/b=>etc/a")
	for run := range 3 {
		s := snapshotOf(t, newBlobs(t, dir), l)
		same(t, value[[]string](t)(value[rootfs.Tree](t)(s.tree(t.Context())).ReadDir("/etc")), "a", "b")
		if l.reads.Load() != 1 {
			t.Fatalf("run %d: read %d times", run, l.reads.Load())
		}
	}
	s := snapshotOf(t, newBlobs(t, dir), l)
	if got, err := contentOf(t, s, "/etc/b"); got != "aaa" || err != nil {
		t.Errorf("content by a remembered index: %q, error %v", got, err)
	}
	if info := value[os.FileInfo](t)(os.Stat(dir)); info.Mode().Perm() != 0o700 {
		t.Errorf("others may use the directory: %s", info.Mode())
	}
}

func TestWithoutIndexesNothingIsRemembered(t *testing.T) {
	t.Chdir(t.TempDir())
	l := tarLayer(t, "etc/")
	for range 2 {
		entriesOf(t, snapshotOf(t, newBlobs(t, ""), l), 0)
	}
	if l.reads.Load() != 2 {
		t.Errorf("read %d times", l.reads.Load())
	}
	if left := value[[]os.DirEntry](t)(os.ReadDir(".")); len(left) > 0 {
		t.Errorf("wrote %v", left)
	}
}

func TestAPoisonedIndexIsReadAnew(t *testing.T) {
	evil := []rootfs.Entry{{Path: "/evil", Node: &rootfs.Node{Mode: 0o755}}}
	for name, poison := range map[string]func([]byte) []byte{
		"empty":           func([]byte) []byte { return nil },
		"cut":             func(b []byte) []byte { return b[:len(b)-1] },
		"one bit":         func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"no index":        func([]byte) []byte { return []byte("something else") },
		"longer":          func(b []byte) []byte { return append(b, 0) },
		"another layer's": func([]byte) []byte { return entryOf(t, "sha256:other", evil) },
	} {
		t.Run(name, func(t *testing.T) {
			x := rootfs.Indexes{Dir: t.TempDir()}
			l := tarLayer(t, "etc/", "etc/a=aaa")
			path := indexPath(x, value[v1.Hash](t)(l.Digest()))
			want := entriesOf(t, snapshotOf(t, newBlobs(t, x.Dir), l), 0)
			good := value[[]byte](t)(os.ReadFile(path))
			must(t, os.WriteFile(path, poison(append([]byte(nil), good...)), 0o600))

			got := entriesOf(t, snapshotOf(t, newBlobs(t, x.Dir), l), 0)
			if l.reads.Load() != 2 || fmt.Sprint(paths(got)) != fmt.Sprint(paths(want)) {
				t.Errorf("read %d times, lists %v", l.reads.Load(), paths(got))
			}
			if again := value[[]byte](t)(os.ReadFile(path)); string(again) != string(good) {
				t.Error("the entry was not put right")
			}
		})
	}
}

// entryOf is what the entry of a digest looks like.
func entryOf(t *testing.T, digest string, list []rootfs.Entry) []byte {
	x := rootfs.Indexes{Dir: t.TempDir()}
	x.Put(digest, list)
	files := value[[]os.DirEntry](t)(os.ReadDir(x.Dir))
	return value[[]byte](t)(os.ReadFile(filepath.Join(x.Dir, files[0].Name())))
}

func paths(entries []rootfs.Entry) []string {
	var list []string
	for _, e := range entries {
		list = append(list, e.Path)
	}
	return list
}

// Readers of the same directory see a whole entry or none.
func TestIndexesMayBeSharedByProcesses(t *testing.T) {
	dir := t.TempDir()
	l := tarLayer(t, "etc/", "etc/a=aaa", "etc/b=bbb")
	digest := value[v1.Hash](t)(l.Digest())
	entries := value[[]rootfs.Entry](t)((&spooledLayer{layer: l, unpack: l.Uncompressed}).read())
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { // each with a value of its own, as another process has
			x := rootfs.Indexes{Dir: dir}
			for range 50 {
				x.Put(digest.String(), entries)
				if got, known := x.Get(digest.String()); !known || len(got) != 3 {
					t.Errorf("%d entries, known %v", len(got), known)
				}
			}
		})
	}
	group.Wait()
	if left := value[[]os.DirEntry](t)(os.ReadDir(dir)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWhatCannotBeRememberedIsNoError(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	taken := rootfs.Indexes{Dir: t.TempDir()}
	l := tarLayer(t, "etc/")
	must(t, os.MkdirAll(filepath.Join(indexPath(taken, value[v1.Hash](t)(l.Digest())), "in the way"), 0o700))
	for _, x := range []rootfs.Indexes{{Dir: file}, {Dir: filepath.Join(file, "below")}, taken} {
		if got := entriesOf(t, snapshotOf(t, newBlobs(t, x.Dir), l), 0); len(got) != 1 {
			t.Errorf("%s: lists %v", x.Dir, paths(got))
		}
	}
	if left := value[[]os.DirEntry](t)(os.ReadDir(taken.Dir)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// indexPath is where the entry of a layer lies.
func indexPath(x rootfs.Indexes, digest v1.Hash) string {
	sum := sha256.Sum256([]byte(digest.String()))
	return filepath.Join(x.Dir, hex.EncodeToString(sum[:]))
}
