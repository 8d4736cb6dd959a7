package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// refName is the annotation under which an entry of index.json has its tag
// (image-spec 1.1, annotations.md).
const refName = "org.opencontainers.image.ref.name"

// layout is an OCI image layout on disk (image-spec 1.1, image-layout.md): one
// index.json whose entries are tags, and blobs by digest. Several processes may
// write to one at once; what each needs for that is in layout_write.go.
type layout struct{ dir, called string }

// OpenLayout returns the image layout in dir, which is made by the first write.
// Until then everything in it is absent. name is how it is called, in messages
// and references, e.g. its path as the user wrote it.
func OpenLayout(dir, name string) Repository { return &layout{dir: filepath.Clean(dir), called: name} }

func (l *layout) Name() string { return l.called }
func (l *layout) path(elem ...string) string {
	return filepath.Join(append([]string{l.dir}, elem...)...)
}
func (l *layout) blob(h v1.Hash) string { return l.path("blobs", h.Algorithm, h.Hex) }
func (l *layout) fail(op, ref string, err error) error {
	if op == "read" && errors.Is(err, fs.ErrNotExist) {
		err = ErrAbsent
	}
	return fail(op, reference(l.called, ref), "", err)
}

// index reads index.json; a layout that is not there yet has an empty one.
func (l *layout) index() (*v1.IndexManifest, error) {
	raw, err := os.ReadFile(l.path("index.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return &v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{}}, nil
	}
	if err != nil {
		return nil, err
	}
	index := &v1.IndexManifest{}
	if err := json.Unmarshal(raw, index); err != nil {
		return nil, fmt.Errorf("parse %s: %w", l.path("index.json"), err)
	}
	return index, nil
}

// Head implements [Repository].
func (l *layout) Head(ctx context.Context, ref string) (v1.Descriptor, error) {
	m, err := l.Manifest(ctx, ref)
	return m.Descriptor(), err
}

// Manifest implements [Repository].
func (l *layout) Manifest(_ context.Context, ref string) (Manifest, error) {
	m, err := l.manifest(ref)
	return m, l.fail("read", ref, err)
}

func (l *layout) manifest(ref string) (Manifest, error) {
	d := v1.Descriptor{}
	if isDigest(ref) {
		h, err := v1.NewHash(ref)
		if err != nil {
			return Manifest{}, err
		}
		d.Digest = h
	} else {
		index, err := l.index()
		if err != nil {
			return Manifest{}, err
		}
		at := entry(index, ref)
		if at < 0 {
			return Manifest{}, ErrAbsent
		}
		d = index.Manifests[at]
	}
	return l.read(d)
}

// read returns the manifest that d names. One that an entry names and that is
// gone is damage, not absence.
func (l *layout) read(d v1.Descriptor) (Manifest, error) {
	raw, err := os.ReadFile(l.blob(d.Digest))
	if errors.Is(err, fs.ErrNotExist) && d.MediaType != "" {
		return Manifest{}, fmt.Errorf("%w: %s is named in index.json, but missing", ErrDamaged, d.Digest)
	}
	if err != nil {
		return Manifest{}, err
	}
	if got := digestOf(raw); got != d.Digest {
		return Manifest{}, fmt.Errorf("%w: digest mismatch: want %s, got %s", ErrDamaged, d.Digest, got)
	}
	return NewManifest(raw, d.MediaType)
}

// entry is the place of tag in index, or -1.
func entry(index *v1.IndexManifest, tag string) int {
	return slices.IndexFunc(index.Manifests, func(d v1.Descriptor) bool { return d.Annotations[refName] == tag })
}

// Image implements [Repository].
func (l *layout) Image(ctx context.Context, digest string) (v1.Image, error) {
	m, err := l.Manifest(ctx, digest)
	if err != nil {
		return nil, err
	}
	img, err := newImage(m, l.open, nil)
	return img, l.fail("read", digest, err)
}

// open checks a blob while it is read: the last Read fails on a wrong digest.
func (l *layout) open(d v1.Descriptor) (io.ReadCloser, error) {
	f, err := os.Open(l.blob(d.Digest))
	if err != nil {
		return nil, l.fail("read", d.Digest.String(), err)
	}
	hasher, err := v1.Hasher(d.Digest.Algorithm)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &checkedFile{file: f, hash: hasher, want: d}, nil
}

// HasBlob implements [Repository].
func (l *layout) HasBlob(_ context.Context, digest string) error {
	h, err := v1.NewHash(digest)
	if err == nil {
		_, err = os.Stat(l.blob(h))
	}
	return l.fail("read", digest, err)
}

// Tags implements [Repository].
func (l *layout) Tags(context.Context) ([]string, error) {
	index, err := l.index()
	if err != nil {
		return nil, fail("list tags of", l.called, "", err)
	}
	tags := []string{}
	for _, d := range index.Manifests {
		if tag := d.Annotations[refName]; tag != "" {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags), nil
}

// children are the descriptors that a manifest refers to.
func children(m Manifest) ([]v1.Descriptor, error) {
	if m.MediaType.IsIndex() {
		index, err := v1.ParseIndexManifest(bytes.NewReader(m.Raw))
		if err != nil {
			return nil, fmt.Errorf("parse index %s: %w", m.Digest, err)
		}
		return index.Manifests, nil
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return nil, fmt.Errorf("parse manifest %s: %w", m.Digest, err)
	}
	list := []v1.Descriptor{manifest.Config}
	for _, d := range manifest.Layers {
		if d.MediaType.IsDistributable() {
			list = append(list, d)
		}
	}
	return list, nil
}
