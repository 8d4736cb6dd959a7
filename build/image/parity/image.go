package parity

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/zstd"
)

// Image is an image read whole into memory.
type Image struct {
	MediaType  string
	ConfigType string
	Config     []byte
	Layers     []Layer
}

// Layer is one layer, uncompressed.
type Layer struct {
	MediaType string
	DiffID    string // computed
	Tar       []byte
}

// Read reads an image and checks that it is what its own digests and sizes say:
// every blob, and every diff ID of the config.
func Read(img v1.Image) (*Image, error) {
	raw, err := img.RawManifest()
	if err != nil {
		return nil, err
	}
	var m struct {
		MediaType string       `json:"mediaType"`
		Config    descriptor   `json:"config"`
		Layers    []descriptor `json:"layers"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("decode manifest: %w", err)
	}
	config, err := img.RawConfigFile()
	if err != nil {
		return nil, err
	}
	if err := m.Config.holds(config); err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	out := &Image{MediaType: m.MediaType, ConfigType: m.Config.MediaType, Config: config}
	for i, d := range m.Layers {
		l, err := readLayer(img, d)
		if err != nil {
			return nil, fmt.Errorf("read layer %d: %w", i+1, err)
		}
		out.Layers = append(out.Layers, l)
	}
	return out, out.checkDiffIDs()
}

func (d descriptor) holds(data []byte) error {
	if got := digestOf(data); got != d.Digest || len(data) != d.Size {
		return fmt.Errorf("blob is %s of %d bytes, the manifest says %s of %d", got, len(data), d.Digest, d.Size)
	}
	return nil
}

func readLayer(img v1.Image, d descriptor) (Layer, error) {
	h, err := v1.NewHash(d.Digest)
	if err != nil {
		return Layer{}, err
	}
	l, err := img.LayerByDigest(h)
	if err != nil {
		return Layer{}, err
	}
	r, err := l.Compressed()
	if err != nil {
		return Layer{}, err
	}
	defer r.Close()
	packed, err := io.ReadAll(r)
	if err != nil {
		return Layer{}, err
	}
	if err := d.holds(packed); err != nil {
		return Layer{}, err
	}
	plain, err := unpack(packed)
	return Layer{MediaType: d.MediaType, DiffID: digestOf(plain), Tar: plain}, err
}

func unpack(packed []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(packed, []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case bytes.HasPrefix(packed, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err := zstd.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	return packed, nil
}

// checkDiffIDs holds that layers, diff IDs and history lines align.
func (i *Image) checkDiffIDs() error {
	var c struct {
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
		History []struct {
			Empty bool `json:"empty_layer"`
		} `json:"history"`
	}
	if err := json.Unmarshal(i.Config, &c); err != nil {
		return fmt.Errorf("decode config: %w", err)
	}
	if len(c.RootFS.DiffIDs) != len(i.Layers) {
		return fmt.Errorf("config has %d diff IDs for %d layers", len(c.RootFS.DiffIDs), len(i.Layers))
	}
	for n, l := range i.Layers {
		if c.RootFS.DiffIDs[n] != l.DiffID {
			return fmt.Errorf("layer %d is %s, config says %s", n+1, l.DiffID, c.RootFS.DiffIDs[n])
		}
	}
	full := 0
	for _, h := range c.History {
		if !h.Empty {
			full++
		}
	}
	if full != len(i.Layers) {
		return fmt.Errorf("history has %d lines with a layer, image has %d layers", full, len(i.Layers))
	}
	return nil
}
