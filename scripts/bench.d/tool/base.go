package main

import (
	"context"
	"errors"
	"hash/crc32"
	"math/rand"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/platform"
)

// baseVerb pushes a base image to REF, for every platform that is named: what
// distroless/static is in size, two layers of 2 MB.
func baseVerb(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("usage: tool base REF PLATFORM…")
	}
	ref, err := name.ParseReference(args[0])
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, text := range args[1:] {
		p, err := platform.Parse(text)
		if err != nil {
			return err
		}
		img, err := baseImage(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.OS, Architecture: p.Arch, Variant: p.Variant}},
		})
	}
	return remote.WriteIndex(ref, index, remote.WithContext(ctx))
}

func baseImage(p platform.Platform) (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = p.OS, p.Arch, p.Variant
	if img, err = mutate.ConfigFile(img, config); err != nil {
		return nil, err
	}
	// The same bytes whoever makes them, so that a digest names them.
	source := rand.NewSource(int64(crc32.ChecksumIEEE([]byte(p.String()))))
	for range 2 {
		plain, err := random.Layer(2e6, types.OCIUncompressedLayer, random.WithSource(source))
		if err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(plain.Uncompressed, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		if img, err = mutate.AppendLayers(img, layer); err != nil {
			return nil, err
		}
	}
	return img, nil
}
