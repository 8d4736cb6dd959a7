package image

import (
	"context"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/rootfs"
)

// pending is a layer that is not written yet, and need not be, unless the image
// consists of it.
type pending struct {
	description string // of the operation, for history lines that a base lacks
	where       string // the instruction's place; "" for a base
	base        v1.Layer
	entries     func(context.Context) ([]rootfs.Entry, error)
}

// layer is a layer of the image with what the config says of it.
type layer struct {
	v1.Layer
	description string
}

// write gives the layer its bytes. A layer of a base has them already.
func (p pending) write(ctx context.Context, blobs *Blobs, r Request) (layer, error) {
	if p.base != nil {
		return layer{retype(p.base, r.Format), p.description}, nil
	}
	entries, err := p.entries(ctx)
	if err != nil {
		return layer{}, err
	}
	made, err := blobs.layer(ctx, contents{entries: entries, epoch: epoch(r), format: r.Format, progress: r.Progress})
	if err != nil {
		return layer{}, err
	}
	return layer{made, p.description}, nil
}

// description is what an image says of a layer.
type description struct {
	digest, diffID v1.Hash // compressed, uncompressed
	size           int64   // compressed bytes
}

// blob is a compressed layer in a file.
type blob struct {
	description
	path      string
	mediaType types.MediaType
}

// Digest implements [v1.Layer].
func (b *blob) Digest() (v1.Hash, error) { return b.digest, nil }

// DiffID implements [v1.Layer].
func (b *blob) DiffID() (v1.Hash, error) { return b.diffID, nil }

// Size implements [v1.Layer].
func (b *blob) Size() (int64, error) { return b.size, nil }

// MediaType implements [v1.Layer].
func (b *blob) MediaType() (types.MediaType, error) { return b.mediaType, nil }

// Link gives the file another name, on the same file system, for who would write
// a copy: it never changes.
func (b *blob) Link(path string) error { return os.Link(b.path, path) }

// Compressed implements [v1.Layer].
func (b *blob) Compressed() (io.ReadCloser, error) { return os.Open(b.path) }

// Uncompressed implements [v1.Layer].
func (b *blob) Uncompressed() (io.ReadCloser, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return nil, err
	}
	return decompress(f, b.mediaType)
}

// retyped is a base's layer under the media type of the image's family.
type retyped struct {
	v1.Layer
	mediaType types.MediaType
}

func (r retyped) MediaType() (types.MediaType, error) { return r.mediaType, nil }

// Unwrap is the layer as the base has it, so that a registry can mount it.
func (r retyped) Unwrap() v1.Layer { return r.Layer }

// dockerZstd is what BuildKit calls a zstd layer among Docker's types; Docker
// never named it.
const dockerZstd types.MediaType = "application/vnd.docker.image.rootfs.diff.tar.zstd"

// families pairs the layer types that have a counterpart, as BuildKit v0.34.2
// converts them.
var families = []struct{ oci, docker types.MediaType }{
	{types.OCILayerZStd, dockerZstd},
	{types.OCILayer, types.DockerLayer},
	{types.OCIUncompressedLayer, types.DockerUncompressedLayer},
	{types.OCIRestrictedLayer, types.DockerForeignLayer},
}

// retype gives a base's layer the media type of the image's family.
func retype(l v1.Layer, f Format) v1.Layer {
	have, err := l.MediaType()
	if err != nil {
		return l // reading it later reports the error
	}
	for _, pair := range families {
		if want := pair.oci; have == pair.docker && !f.Docker {
			return retyped{l, want}
		}
		if want := pair.docker; have == pair.oci && f.Docker {
			return retyped{l, want}
		}
	}
	return l
}
