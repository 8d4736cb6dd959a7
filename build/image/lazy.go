package image

import (
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/rootfs"
)

// lazy is a new layer as one image has it. A registry that has the blob never
// asks for its bytes.
type lazy struct {
	description
	packed *packed
	bytes  func() (*blob, error)
}

// Digest implements [v1.Layer].
func (l *lazy) Digest() (v1.Hash, error) { return l.digest, nil }

// DiffID implements [v1.Layer].
func (l *lazy) DiffID() (v1.Hash, error) { return l.diffID, nil }

// Size implements [v1.Layer].
func (l *lazy) Size() (int64, error) { return l.size, nil }

// MediaType implements [v1.Layer].
func (l *lazy) MediaType() (types.MediaType, error) { return layerType(l.packed.format), nil }

// Compressed implements [v1.Layer]. The error is a [*StaleError] where the bytes
// are not those that the digest promised.
func (l *lazy) Compressed() (io.ReadCloser, error) {
	b, err := l.bytes()
	if err != nil {
		return nil, err
	}
	return b.Compressed()
}

// Link is a second name for the bytes, where they are made anyway.
func (l *lazy) Link(path string) error {
	b, err := l.bytes()
	if err != nil {
		return err
	}
	return b.Link(path)
}

// Uncompressed implements [v1.Layer], as Compressed.
func (l *lazy) Uncompressed() (io.ReadCloser, error) {
	b, err := l.bytes()
	if err != nil {
		return nil, err
	}
	return b.Uncompressed()
}

// Entries is what the layer consists of, whose files can be read where they are.
func (l *lazy) Entries() []rootfs.Entry { return l.packed.entries }
