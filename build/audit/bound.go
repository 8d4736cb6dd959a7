package audit

import (
	"context"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Bounds on what strangers published. gzip makes at most 1032 bytes of one, so
// no honest layer meets the ratio; zstd makes 30,000 and more.
const (
	boundFloor = 1 << 30   // bytes that any layer may unpack to
	boundRatio = 2000      // further bytes, for each compressed one
	boundMost  = 256 << 30 // bytes in any case
	maxEntries = 2 << 20   // of all layers of one image; some 400 bytes of memory each
)

// unpack reads a layer uncompressed, under ctx, which has to outlive it. A layer
// that gets too long ends with an error.
func unpack(ctx context.Context, l v1.Layer) (io.ReadCloser, error) {
	size, err := l.Size()
	if err != nil {
		return nil, err
	}
	stream, err := l.Uncompressed()
	if err != nil {
		return nil, err
	}
	most := int64(boundMost)
	if size < (boundMost-boundFloor)/boundRatio {
		most = boundFloor + boundRatio*size
	}
	return &bounded{ReadCloser: stream, ctx: ctx, left: most, compressed: size, most: most}, nil
}

// bounded is a stream with a bound, in bytes.
type bounded struct {
	io.ReadCloser
	ctx                    context.Context
	left, compressed, most int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("more than %d bytes out of %d compressed ones", b.most, b.compressed)
	}
	return n, err
}
