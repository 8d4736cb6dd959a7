package image

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
	"github.com/klauspost/pgzip"

	"github.com/archmage-go/archmage/build/rootfs"
)

// Compression of new layers. Level and block size decide the bytes, together
// with the library's version, so a change here is a change of every digest.
// pgzip's bytes depend neither on how many blocks are compressed at once nor on
// the sizes of writes, as long as the block size is fixed.
const (
	gzipLevel = 6
	gzipBlock = 1 << 20 // bytes
	zstdLevel = zstd.SpeedDefault
)

// Blobs is a directory where new layers are written, and where what had to be
// unpacked on the way lies. It may be used by several goroutines.
type Blobs struct {
	dir        string
	indexes    rootfs.Indexes
	layerBound bound // of layers of bases
	maxRemote  int64 // bytes of a remote file
}

// NewBlobs makes a directory of its own below dir, or below the system's
// directory for temporary files where dir is "". [Blobs.Close] removes it.
func NewBlobs(dir string, indexes rootfs.Indexes) (*Blobs, error) {
	dir, err := os.MkdirTemp(dir, "archmage-")
	if err != nil {
		return nil, err
	}
	return &Blobs{dir: dir, indexes: indexes, layerBound: layerBound, maxRemote: maxRemote}, nil
}

// Close removes every blob. Images that were built with them end with it.
func (b *Blobs) Close() error { return os.RemoveAll(b.dir) }

// temp makes a directory that ends with the blobs.
func (b *Blobs) temp(pattern string) (string, error) { return os.MkdirTemp(b.dir, pattern) }

func (b *Blobs) spool() *rootfs.Spool { return &rootfs.Spool{Dir: b.dir} }

// write compresses what fill writes into a file, which is named after its
// digest once it is whole.
func (b *Blobs) write(ctx context.Context, f Format, fill func(io.Writer) error) (_ *blob, err error) {
	file, err := os.CreateTemp(b.dir, "layer-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // it may be closed already
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	compressed := &counter{w: bufio.NewWriterSize(file, 1<<20), hash: sha256.New()}
	packer, err := compressor(compressed, f)
	if err != nil {
		return nil, err
	}
	plain := &counter{w: packer, hash: sha256.New(), ctx: ctx}
	if err := fill(plain); err != nil {
		return nil, errors.Join(err, packer.Close())
	}
	if err := errors.Join(packer.Close(), compressed.w.(*bufio.Writer).Flush(), file.Close()); err != nil {
		return nil, err
	}
	done := &blob{digest: compressed.sum(), diffID: plain.sum(), size: compressed.n, mediaType: layerType(f)}
	done.path = filepath.Join(b.dir, done.digest.Hex)
	return done, os.Rename(file.Name(), done.path)
}

func layerType(f Format) types.MediaType {
	switch {
	case f.Zstd:
		return types.OCILayerZStd // Docker's family has no name of its own for it
	case f.Docker:
		return types.DockerLayer
	}
	return types.OCILayer
}

func compressor(w io.Writer, f Format) (io.WriteCloser, error) {
	if f.Zstd {
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstdLevel), zstd.WithEncoderConcurrency(1))
	}
	gz, err := pgzip.NewWriterLevel(w, gzipLevel)
	if err != nil {
		return nil, err
	}
	return gz, gz.SetConcurrency(gzipBlock, runtime.GOMAXPROCS(0)+1)
}

func decompress(f io.ReadCloser, t types.MediaType) (io.ReadCloser, error) {
	if t == types.OCILayerZStd {
		z, err := zstd.NewReader(f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &unpacked{z.IOReadCloser(), f}, nil
	}
	gz, err := pgzip.NewReader(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &unpacked{gz, f}, nil
}

// unpacked closes the decoder and the file below it.
type unpacked struct {
	io.ReadCloser
	file io.Closer
}

func (u *unpacked) Close() error { return errors.Join(u.ReadCloser.Close(), u.file.Close()) }

// counter hashes and counts what passes, and ends with its context.
type counter struct {
	w    io.Writer
	hash hash.Hash
	n    int64
	ctx  context.Context // nil never ends
}

func (c *counter) Write(p []byte) (int, error) {
	if c.ctx != nil && c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err := c.w.Write(p)
	c.hash.Write(p[:n])
	c.n += int64(n)
	return n, err
}

func (c *counter) sum() v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(c.hash.Sum(nil))}
}

// epoch is the time of what has none of its own.
func epoch(r Request) time.Time {
	if r.Epoch != nil {
		return *r.Epoch
	}
	return time.Unix(0, 0).UTC()
}
