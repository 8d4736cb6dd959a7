package image

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/klauspost/pgzip"
)

// Compression of new layers. Level and block size decide the bytes, together
// with the library's version, so a change here is a change of every digest.
// pgzip's bytes depend neither on how many blocks are compressed at once nor on
// the sizes of writes, as long as the block size is fixed; those of zstd's plain
// streams not on its concurrency.
//
// On stripped Go programs of 40 to 50 MB, megabytes for each second of one
// core's time and what is left, relative to level 2 of gzip:
//
//	gzip 1  1.00  1.032    zstd fastest  1.5  0.854
//	gzip 2  1.00  1.000    zstd default  1.15 0.806
//	gzip 3  0.84  0.970    zstd better   0.57 0.768
//	gzip 4  0.69  0.946
//	gzip 5  0.59  0.918
//	gzip 6  0.53  0.905
//
// Level 2 is as fast as 1, and the fastest: two cores feed a link of some
// 200 MB/s. Level 6 sends a tenth less for twice the time. zstd's default is
// still faster than any gzip. Its parallel blocks take a quarter more time in
// all, which many layers at once lose, and one large layer seldom regains.
const (
	gzipLevel = 2
	gzipBlock = 1 << 20 // bytes
	zstdLevel = zstd.SpeedDefault
)

// packer compresses layers, so many at once and with so many blocks each that
// all processors have work, and memory does not grow with theirs and the layers'
// number: a block takes some 3 MB.
type packer struct {
	blocks int           // of one layer at once
	turns  chan struct{} // one for each layer that is being compressed

	mu   sync.Mutex
	idle []*pgzip.Writer // with their buffers
}

// newPacker is for a number of processors. Reading and hashing keep up with four
// that compress.
func newPacker(processors int) *packer {
	return &packer{
		blocks: min(processors, 8) + 1,
		turns:  make(chan struct{}, max(2, min(processors/4, 6))),
	}
}

// turn waits until fewer layers are compressed; done ends it.
func (p *packer) turn(ctx context.Context) (done func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case p.turns <- struct{}{}:
		return func() { <-p.turns }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// pack compresses into w what fill writes.
func (p *packer) pack(w io.Writer, f Format, fill func(io.Writer) error) error {
	if f.Zstd {
		// The second one reads and hashes ahead.
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstdLevel), zstd.WithEncoderConcurrency(2))
		if err != nil {
			return err
		}
		return errors.Join(fill(z), z.Close())
	}
	gz, err := p.gzip(w)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(gz), gz.Close()); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, gz)
	return nil
}

// gzip is a writer, one that was used before where there is one: a new one's
// buffers are as large as a small layer.
func (p *packer) gzip(w io.Writer) (gz *pgzip.Writer, err error) {
	p.mu.Lock()
	if last := len(p.idle) - 1; last >= 0 {
		gz, p.idle = p.idle[last], p.idle[:last]
	}
	p.mu.Unlock()
	if gz != nil {
		gz.Reset(w)
	} else if gz, err = pgzip.NewWriterLevel(w, gzipLevel); err != nil {
		return nil, err
	}
	return gz, gz.SetConcurrency(gzipBlock, p.blocks)
}
