package image

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// assembled is an image whose manifest and config are fixed bytes: nothing here
// is ever serialised again.
type assembled struct {
	config, manifest []byte
	parsed           *v1.Manifest
	layers           []v1.Layer
}

// assemble makes the image of a recipe's config and its layers.
func assemble(r Request, layers []layer) (v1.Image, error) {
	config, err := exportConfig(r, layers)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return withManifest(r, config, layers)
}

// withManifest makes the image of a config and the layers that it lists.
func withManifest(r Request, config []byte, layers []layer) (_ v1.Image, err error) {
	m := &v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1,
		Config:      v1.Descriptor{MediaType: types.OCIConfigJSON, Size: int64(len(config))},
		Layers:      []v1.Descriptor{},
		Annotations: r.Annotations,
	}
	if r.Format.Docker {
		m.MediaType, m.Config.MediaType = types.DockerManifestSchema2, types.DockerConfigJSON
	}
	if m.Config.Digest, _, err = v1.SHA256(bytes.NewReader(config)); err != nil {
		return nil, err
	}
	img := &assembled{config: config, parsed: m}
	for _, l := range layers {
		d, err := descriptor(l.Layer)
		if err != nil {
			return nil, fmt.Errorf("layer %s: %w", l.description, err)
		}
		m.Layers = append(m.Layers, d)
		img.layers = append(img.layers, l.Layer)
	}
	img.manifest, err = json.Marshal(m)
	return img, err
}

func descriptor(l v1.Layer) (d v1.Descriptor, err error) {
	if d.Digest, err = l.Digest(); err != nil {
		return d, err
	}
	if d.Size, err = l.Size(); err != nil {
		return d, err
	}
	d.MediaType, err = l.MediaType()
	return d, err
}

// Layers implements [v1.Image], as all that follow.
func (a *assembled) Layers() ([]v1.Layer, error) { return a.layers, nil }

// MediaType is that of the manifest.
func (a *assembled) MediaType() (types.MediaType, error) { return a.parsed.MediaType, nil }

// Size is that of the manifest, in bytes.
func (a *assembled) Size() (int64, error) { return int64(len(a.manifest)), nil }

// ConfigName is the digest of the config.
func (a *assembled) ConfigName() (v1.Hash, error) { return a.parsed.Config.Digest, nil }

// ConfigFile parses the config. It knows fewer fields than the raw form.
func (a *assembled) ConfigFile() (*v1.ConfigFile, error) {
	return v1.ParseConfigFile(bytes.NewReader(a.config))
}

// RawConfigFile is the config's bytes.
func (a *assembled) RawConfigFile() ([]byte, error) { return a.config, nil }

// Digest is that of the manifest.
func (a *assembled) Digest() (v1.Hash, error) {
	h, _, err := v1.SHA256(bytes.NewReader(a.manifest))
	return h, err
}

// Manifest is a copy of the manifest.
func (a *assembled) Manifest() (*v1.Manifest, error) { return a.parsed.DeepCopy(), nil }

// RawManifest is the manifest's bytes.
func (a *assembled) RawManifest() ([]byte, error) { return a.manifest, nil }

// LayerByDigest finds a layer, or the config as one.
func (a *assembled) LayerByDigest(h v1.Hash) (v1.Layer, error) {
	if h == a.parsed.Config.Digest {
		return partial.ConfigLayer(a)
	}
	return a.find(h, func(l v1.Layer) (v1.Hash, error) { return l.Digest() })
}

// LayerByDiffID finds a layer by the digest of its uncompressed form.
func (a *assembled) LayerByDiffID(h v1.Hash) (v1.Layer, error) {
	return a.find(h, func(l v1.Layer) (v1.Hash, error) { return l.DiffID() })
}

func (a *assembled) find(h v1.Hash, key func(v1.Layer) (v1.Hash, error)) (v1.Layer, error) {
	for _, l := range a.layers {
		if k, err := key(l); err != nil || k == h {
			return l, err
		}
	}
	return nil, fmt.Errorf("layer %s: not in the image", h)
}
