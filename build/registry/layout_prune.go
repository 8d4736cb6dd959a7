package registry

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/files"
)

// grace is how old a blob that nothing refers to, and that no replaced entry
// referred to, has to be before it is removed: until then it may belong to an
// image that is still being written.
const grace = time.Hour

// prune removes blobs that no entry of index needs: those of the entries that
// were just dropped, and old ones that a killed process left. It is called under
// the lock. Where the index cannot be followed to its end, nothing is removed.
// Failing to remove is no error: it costs space.
func (l *layout) prune(index *v1.IndexManifest, dropped []v1.Descriptor) {
	l.sweep()
	keep, drop := map[v1.Hash]bool{}, map[v1.Hash]bool{}
	for _, d := range index.Manifests {
		if !l.mark(d, keep) {
			return
		}
	}
	for _, d := range dropped {
		l.mark(d, drop)
	}
	// All artifacts share it, those too that are being written.
	keep[digestOf([]byte(emptyConfig))] = true
	old := time.Now().Add(-grace)
	_ = filepath.WalkDir(l.path("blobs"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		h := v1.Hash{Algorithm: filepath.Base(filepath.Dir(path)), Hex: e.Name()}
		if keep[h] || !isBlobName(h) {
			return nil
		}
		if info, err := e.Info(); drop[h] || err == nil && info.ModTime().Before(old) {
			os.Remove(path)
		}
		return nil
	})
}

// sweep removes what killed processes were writing.
func (l *layout) sweep() {
	files.Sweep(l.dir)
	algorithms, _ := os.ReadDir(l.path("blobs"))
	for _, a := range algorithms {
		files.Sweep(l.path("blobs", a.Name()))
	}
}

// mark adds d and everything below it to keep; false where that is not known.
func (l *layout) mark(d v1.Descriptor, keep map[v1.Hash]bool) bool {
	if keep[d.Digest] {
		return true
	}
	keep[d.Digest] = true
	if !d.MediaType.IsImage() && !d.MediaType.IsIndex() {
		return true
	}
	m, err := l.read(d)
	if err != nil {
		return false
	}
	list, err := children(m)
	if err != nil {
		return false
	}
	for _, child := range list {
		if !l.mark(child, keep) {
			return false
		}
	}
	return true
}

// isBlobName keeps files alone that somebody else put among the blobs.
func isBlobName(h v1.Hash) bool {
	_, err := v1.NewHash(h.String())
	return err == nil
}
