package image

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// adopt makes an engine's image one of archmage's: its config and layers as
// they are, under a manifest of the family and with the annotations asked for.
// New layers are compressed as asked for: engines take those that they have in
// their cache as these are, and buildah knows gzip alone.
func (e Engine) adopt(ctx context.Context, r Request, img v1.Image) (v1.Image, error) {
	config, err := img.RawConfigFile()
	if err != nil {
		return nil, err
	}
	have, err := img.Layers()
	if err != nil {
		return nil, err
	}
	base := e.baseLayers(r)
	layers := make([]layer, len(have))
	for i, l := range have {
		id, err := l.DiffID()
		if err == nil && !slices.Contains(base, id) {
			l, err = e.Blobs.packed(ctx, r.Format, l)
		}
		if err != nil {
			return nil, err
		}
		layers[i] = layer{Layer: retype(l, r.Format)}
	}
	return withManifest(r, config, layers)
}

// packed is a layer in the compression of a format.
func (b *Blobs) packed(ctx context.Context, f Format, l v1.Layer) (v1.Layer, error) {
	have, err := l.MediaType()
	if err != nil || f.Zstd == (have == types.OCILayerZStd || have == dockerZstd) {
		return l, err
	}
	return b.write(ctx, f, func(w io.Writer) error { return unpackLayer(w, l) })
}

// baseLayers are the diff IDs of what a recipe builds on.
func (e Engine) baseLayers(r Request) []v1.Hash {
	var c struct{ RootFS v1.RootFS }
	if e.Bases != nil {
		_ = json.Unmarshal(e.Bases.Config(r.Recipe.FinalBase), &c) // it was read before
	}
	return c.RootFS.DiffIDs
}

// readLayout is the one image of an OCI layout.
func readLayout(dir string) (v1.Image, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(m.Manifests) != 1 || !m.Manifests[0].MediaType.IsImage() {
		return nil, errors.New("the engine wrote something else than one image")
	}
	return index.Image(m.Manifests[0].Digest)
}

// directory is an image as containers/image writes it with the dir transport:
// manifest.json, and blobs named after the hex of their digests.
type directory struct {
	dir      string
	manifest []byte
}

// readDir is the image in such a directory.
func readDir(dir string) (v1.Image, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(directory{dir, raw})
}

func (d directory) parsed() (*v1.Manifest, error) {
	return v1.ParseManifest(bytes.NewReader(d.manifest))
}

// RawManifest implements [partial.CompressedImageCore], as those that follow.
func (d directory) RawManifest() ([]byte, error) { return d.manifest, nil }

// MediaType is that of the manifest.
func (d directory) MediaType() (types.MediaType, error) {
	m, err := d.parsed()
	if err != nil {
		return "", err
	}
	return m.MediaType, nil
}

// RawConfigFile reads the config.
func (d directory) RawConfigFile() ([]byte, error) {
	m, err := d.parsed()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(d.dir, m.Config.Digest.Hex))
}

// LayerByDigest finds a layer of the manifest.
func (d directory) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	m, err := d.parsed()
	if err != nil {
		return nil, err
	}
	for _, l := range m.Layers {
		if l.Digest == h {
			return directoryLayer{l, filepath.Join(d.dir, h.Hex)}, nil
		}
	}
	return nil, fmt.Errorf("layer %s: not in the image", h)
}

type directoryLayer struct {
	v1.Descriptor
	path string
}

func (l directoryLayer) Digest() (v1.Hash, error)            { return l.Descriptor.Digest, nil }
func (l directoryLayer) Compressed() (io.ReadCloser, error)  { return os.Open(l.path) }
func (l directoryLayer) Size() (int64, error)                { return l.Descriptor.Size, nil }
func (l directoryLayer) MediaType() (types.MediaType, error) { return l.Descriptor.MediaType, nil }

// fromArchive is the image in what docker save writes. Its layers are not
// compressed; ours are.
func (b *Blobs) fromArchive(ctx context.Context, r Request, file string) (v1.Image, error) {
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return nil, err
	}
	config, err := img.RawConfigFile()
	if err != nil {
		return nil, err
	}
	have, err := img.Layers()
	if err != nil {
		return nil, err
	}
	layers := make([]layer, len(have))
	for i, l := range have {
		blob, err := b.write(ctx, r.Format, func(w io.Writer) error { return unpackLayer(w, l) })
		if err != nil {
			return nil, err
		}
		layers[i] = layer{Layer: blob}
	}
	return withManifest(r, config, layers)
}

func unpackLayer(w io.Writer, l v1.Layer) error {
	in, err := l.Uncompressed()
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(w, in)
	return err
}

// configHas reports whether a config says anything under a key.
func configHas(config []byte, key string) bool {
	var c struct{ Config map[string]json.RawMessage }
	_ = json.Unmarshal(config, &c) // the front end wrote it
	value, ok := c.Config[key]
	return ok && string(value) != "null" && string(value) != "[]"
}
