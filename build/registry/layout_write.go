package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/files"
)

// Blobs are written without a lock, under a temporary name. index.json is
// changed, and blobs are removed, under the layout's lock alone. In between,
// another process may remove a blob that this one found there and did not write
// again; so an entry is made only after looking, under the lock, whether all it
// refers to is there.

// errPruned says that a blob went away before its entry was made.
var errPruned = errors.New("a blob went away while the image was written")

// PutImage implements [Repository]. The entry of the same tag is replaced, and
// what only that entry needed is removed. A digest makes no entry.
func (l *layout) PutImage(ctx context.Context, ref string, img v1.Image) (v1.Descriptor, error) {
	d, err := l.putImage(ctx, ref, img)
	return d, l.fail("write", ref, err)
}

func (l *layout) putImage(ctx context.Context, ref string, img v1.Image) (v1.Descriptor, error) {
	if err := checkRef(ref); err != nil {
		return v1.Descriptor{}, err
	}
	m, err := manifestOf(img)
	if err != nil {
		return v1.Descriptor{}, err
	}
	for range 3 { // losing this race twice in a row takes more than bad luck
		if err = l.putBlobs(ctx, img); err != nil {
			break
		}
		if isDigest(ref) {
			if err = checkPut(ref, m); err == nil {
				err = l.putRaw(ctx, m)
			}
			break
		}
		if err = l.name(ctx, ref, m); !errors.Is(err, errPruned) {
			break
		}
	}
	return m.Descriptor(), err
}

func (l *layout) putBlobs(ctx context.Context, img v1.Image) error {
	blobs, err := blobsOf(img)
	if err != nil {
		return err
	}
	for _, b := range blobs {
		var d v1.Descriptor
		if d.Digest, err = b.Digest(); err != nil {
			return err
		}
		if d.Size, err = b.Size(); err != nil {
			return err
		}
		if l.link(d, b) {
			continue
		}
		if err := l.putBlob(ctx, d, b.Compressed); err != nil {
			return err
		}
	}
	return nil
}

// link gives a layer that has just been written to a file its name here, in place
// of a copy, where the file system can. What is there already stays.
func (l *layout) link(d v1.Descriptor, b v1.Layer) bool {
	file, ok := b.(interface{ Link(path string) error })
	name := l.blob(d.Digest)
	if _, err := os.Stat(name); !ok || err == nil {
		return false
	}
	return os.MkdirAll(filepath.Dir(name), 0o755) == nil && file.Link(name) == nil
}

// PutManifest implements [Repository]. A digest alone makes no entry: until a
// tag names the manifest, a later write may remove it.
func (l *layout) PutManifest(ctx context.Context, ref string, m Manifest) error {
	err := checkPut(ref, m)
	if err == nil && isDigest(ref) {
		err = l.putRaw(ctx, m)
	} else if err == nil {
		err = l.name(ctx, ref, m)
	}
	return l.fail("write", ref, err)
}

func (l *layout) putRaw(ctx context.Context, m Manifest) error {
	return l.putBlob(ctx, m.Descriptor(), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(m.Raw)), nil })
}

// name makes tag's entry in index.json.
func (l *layout) name(ctx context.Context, tag string, m Manifest) error {
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := l.complete(m); err != nil {
		return err
	}
	if err := l.putRaw(ctx, m); err != nil {
		return err
	}
	index, err := l.index()
	if err != nil {
		return err
	}
	d := m.Descriptor()
	d.Annotations = map[string]string{refName: tag}
	d.Platform = l.platform(m)
	dropped := setEntry(index, tag, d)
	dropped = append(dropped, l.dropOrphans(index)...)
	if err := l.putIndex(index); err != nil {
		return err
	}
	l.prune(index, dropped)
	return nil
}

// setEntry makes d the entry of tag, and returns what it was before.
func setEntry(index *v1.IndexManifest, tag string, d v1.Descriptor) (replaced []v1.Descriptor) {
	if at := entry(index, tag); at >= 0 {
		replaced = []v1.Descriptor{index.Manifests[at]}
		index.Manifests[at] = d
	} else {
		index.Manifests = append(index.Manifests, d)
	}
	sortEntries(index)
	return replaced
}

// sortEntries sorts by tag, so that the order of writers does not show; those
// without one, at the end, by digest. Some readers take the first for the image.
func sortEntries(index *v1.IndexManifest) {
	slices.SortStableFunc(index.Manifests, func(a, b v1.Descriptor) int {
		if untagged(a) && untagged(b) {
			return cmp.Compare(a.Digest.String(), b.Digest.String())
		}
		if untagged(a) != untagged(b) {
			return cmp.Compare(b.Annotations[refName], a.Annotations[refName])
		}
		return cmp.Compare(a.Annotations[refName], b.Annotations[refName])
	})
}

// complete returns errPruned when something that m refers to is not there.
func (l *layout) complete(m Manifest) error {
	list, err := children(m)
	if err != nil {
		return err
	}
	for _, d := range list {
		info, err := os.Stat(l.blob(d.Digest))
		if err != nil || info.Size() != d.Size {
			return fmt.Errorf("%w: %s", errPruned, d.Digest)
		}
		if !d.MediaType.IsImage() && !d.MediaType.IsIndex() {
			continue
		}
		child, err := l.read(d)
		if err == nil {
			err = l.complete(child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// platform is what the config of an image manifest says, so that readers need
// not open it; nil where it says nothing.
func (l *layout) platform(m Manifest) *v1.Platform {
	img, err := newImage(m, l.open, nil)
	if err != nil {
		return nil
	}
	config, err := img.ConfigFile()
	if err != nil || config.OS == "" || config.Architecture == "" {
		return nil
	}
	return &v1.Platform{OS: config.OS, Architecture: config.Architecture, Variant: config.Variant}
}

func (l *layout) putIndex(index *v1.IndexManifest) error {
	raw, err := json.Marshal(index)
	if err != nil {
		return err
	}
	write := func(file string, content []byte) error {
		return files.Replace(l.path(file), func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
	}
	if err := write("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return err
	}
	return write("index.json", raw)
}
