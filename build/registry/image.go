package registry

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	ggcr "github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// opener opens a blob whose bytes have been, or are while they are read,
// checked against the descriptor.
type opener func(v1.Descriptor) (io.ReadCloser, error)

// storedImage is an image whose manifest is known and whose blobs are somewhere.
type storedImage struct {
	raw      Manifest
	manifest *v1.Manifest
	open     opener
	config   func() ([]byte, error)
}

// newImage returns the image of m. Where from is given, layers say that they
// can be mounted from there.
func newImage(m Manifest, open opener, from name.Reference) (v1.Image, error) {
	if !m.MediaType.IsImage() {
		return nil, fmt.Errorf("%s is %s, not an image manifest", m.Digest, m.MediaType)
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return nil, fmt.Errorf("parse manifest %s: %w", m.Digest, err)
	}
	core := &storedImage{raw: m, manifest: manifest, open: open}
	core.config = sync.OnceValues(core.readConfig)
	img, err := partial.CompressedToImage(core)
	if err != nil || from == nil {
		return img, err
	}
	return &mountable{Image: img, from: from}, nil
}

func (s *storedImage) RawManifest() ([]byte, error)        { return s.raw.Raw, nil }
func (s *storedImage) MediaType() (types.MediaType, error) { return s.raw.MediaType, nil }
func (s *storedImage) RawConfigFile() ([]byte, error)      { return s.config() }

func (s *storedImage) readConfig() ([]byte, error) {
	if s.manifest.Config.Size > maxManifest {
		return nil, fmt.Errorf("config %s: %d bytes, more than an image config can need", s.manifest.Config.Digest, s.manifest.Config.Size)
	}
	rc, err := s.open(s.manifest.Config)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	return io.ReadAll(rc)
}

func (s *storedImage) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	if h == s.manifest.Config.Digest {
		return &storedBlob{desc: s.manifest.Config, open: s.open}, nil
	}
	for i, d := range s.manifest.Layers {
		if d.Digest == h {
			return &storedLayer{storedBlob{desc: d, open: s.open}, func() (v1.Hash, error) { return s.diffID(i) }}, nil
		}
	}
	return nil, fmt.Errorf("layer %s: not in image %s", h, s.raw.Digest)
}

// diffID reads the digest of a layer's uncompressed bytes from the config, so
// that nobody has to download the layer to compute it.
func (s *storedImage) diffID(layer int) (v1.Hash, error) {
	config, err := partial.ConfigFile(s)
	if err != nil {
		return v1.Hash{}, err
	}
	if len(config.RootFS.DiffIDs) != len(s.manifest.Layers) {
		return v1.Hash{}, fmt.Errorf("image %s: %d layers, but its config lists %d", s.raw.Digest, len(s.manifest.Layers), len(config.RootFS.DiffIDs))
	}
	return config.RootFS.DiffIDs[layer], nil
}

type storedBlob struct {
	desc v1.Descriptor
	open opener
}

func (b *storedBlob) Digest() (v1.Hash, error)            { return b.desc.Digest, nil }
func (b *storedBlob) Size() (int64, error)                { return b.desc.Size, nil }
func (b *storedBlob) MediaType() (types.MediaType, error) { return b.desc.MediaType, nil }
func (b *storedBlob) Compressed() (io.ReadCloser, error)  { return b.open(b.desc) }

type storedLayer struct {
	storedBlob
	diffID func() (v1.Hash, error)
}

func (l *storedLayer) DiffID() (v1.Hash, error) { return l.diffID() }

// mountable marks the layers it hands out with where they come from, in the
// way that go-containerregistry's own images do, so that they can be built into
// another image and still be mounted when that is pushed.
type mountable struct {
	v1.Image
	from name.Reference
}

func (m *mountable) mark(l v1.Layer, err error) (v1.Layer, error) {
	if err != nil {
		return nil, err
	}
	return &ggcr.MountableLayer{Layer: l, Reference: m.from}, nil
}

func (m *mountable) Layers() ([]v1.Layer, error) {
	layers, err := m.Image.Layers()
	if err != nil {
		return nil, err
	}
	marked := make([]v1.Layer, len(layers))
	for i, l := range layers {
		marked[i], _ = m.mark(l, nil)
	}
	return marked, nil
}

func (m *mountable) LayerByDigest(h v1.Hash) (v1.Layer, error) {
	return m.mark(m.Image.LayerByDigest(h))
}

func (m *mountable) LayerByDiffID(h v1.Hash) (v1.Layer, error) {
	return m.mark(m.Image.LayerByDiffID(h))
}
