package image

import (
	"context"
	"fmt"
	"io"
	"math"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// bound says how long a layer of a base may be once it is unpacked, since
// anybody may have written it: floor, and ratio for each of its compressed
// bytes, at most most.
type bound struct{ floor, ratio, most int64 }

// layerBound refuses nothing that a real image has. gzip makes at most 1032
// bytes of one, so ratio never refuses gzip, nor what is not compressed: there
// most counts alone, and a log of many GiB of zeros, which useradd leaves behind
// as a sparse file, passes. zstd makes 30,000 and more of one.
var layerBound = bound{floor: 1 << 30, ratio: 2000, most: 256 << 30}

// of is the bound in bytes for a layer of that many compressed ones.
func (b bound) of(compressed int64) int64 {
	if compressed > (math.MaxInt64-b.floor)/b.ratio { // a manifest may say anything
		return b.most
	}
	return min(b.floor+b.ratio*compressed, b.most)
}

// unpack reads a layer uncompressed. The stream ends with an error where it
// gets longer than b allows, and when ctx ends, which has to outlive it.
func (b bound) unpack(ctx context.Context, l v1.Layer) (io.ReadCloser, error) {
	size, err := l.Size()
	if err != nil {
		return nil, err
	}
	stream, err := l.Uncompressed()
	if err != nil {
		return nil, err
	}
	return &bounded{stream, ctx, size, b.of(size), 0}, nil
}

// bounded is a stream with a bound.
type bounded struct {
	io.ReadCloser
	ctx                context.Context
	compressed, max, n int64 // bytes: of the layer, allowed, read
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	n, err := b.ReadCloser.Read(p)
	if b.n += int64(n); b.n > b.max {
		return 0, fmt.Errorf("more than %d bytes out of %d compressed ones", b.max, b.compressed)
	}
	return n, err
}
