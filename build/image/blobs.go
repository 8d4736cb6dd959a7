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
	"runtime/debug"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
	"github.com/klauspost/pgzip"

	"github.com/archmage-go/archmage/build/cache"
	"github.com/archmage-go/archmage/build/files"
	"github.com/archmage-go/archmage/build/rootfs"
)

// Blobs is a directory where new layers are written, and where what had to be
// unpacked on the way lies. It may be used by several goroutines.
type Blobs struct {
	// Facts, set before the first build, is what is remembered of new layers.
	Facts cache.Store

	// Made, set likewise, gives files whose attributes alone have changed what
	// they were when their bytes were made.
	Made map[files.Inode]files.Inode

	dir        string
	indexes    rootfs.Indexes
	layerBound bound // of layers of bases
	maxRemote  int64 // bytes of a remote file
	settling   time.Duration
	packer     *packer
	info       *debug.BuildInfo // of this program; nil is unknown

	mu     sync.Mutex
	roots  map[string]*os.Root
	shared map[string]*packed // new layers of this run, by what they consist of
}

// NewBlobs makes a directory of its own below dir, or below the system's
// directory for temporary files where dir is "". [Blobs.Close] removes it.
func NewBlobs(dir string, indexes rootfs.Indexes) (*Blobs, error) {
	dir, err := os.MkdirTemp(dir, "archmage-")
	if err != nil {
		return nil, err
	}
	info, _ := debug.ReadBuildInfo()
	return &Blobs{
		info: info, dir: dir, indexes: indexes, layerBound: layerBound, maxRemote: maxRemote, settling: settling,
		packer: newPacker(runtime.GOMAXPROCS(0)), roots: map[string]*os.Root{}, shared: map[string]*packed{},
	}, nil
}

// Close removes every blob. Images that were built with them end with it.
func (b *Blobs) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, root := range b.roots {
		errs = append(errs, root.Close())
	}
	clear(b.roots)
	return errors.Join(append(errs, os.RemoveAll(b.dir))...)
}

// root is a directory that builds read from. It stays open until Close, since a
// layer whose digest is known may be asked for its bytes later.
func (b *Blobs) root(dir string) (*os.Root, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if root := b.roots[dir]; root != nil {
		return root, nil
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		b.roots[dir] = root
	}
	return root, err
}

// temp makes a directory that ends with the blobs.
func (b *Blobs) temp(pattern string) (string, error) { return os.MkdirTemp(b.dir, pattern) }

func (b *Blobs) spool() *rootfs.Spool { return &rootfs.Spool{Dir: b.dir} }

// write compresses what fill writes into a file, which is named after its
// digest once it is whole. It may have to wait for other layers.
func (b *Blobs) write(ctx context.Context, f Format, fill func(io.Writer) error) (_ *blob, err error) {
	done, err := b.packer.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
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
	out := bufio.NewWriterSize(file, 256<<10)
	compressed, plain := &counter{w: out, hash: sha256.New()}, &counter{hash: sha256.New(), ctx: ctx}
	err = b.packer.pack(compressed, f, func(w io.Writer) error {
		plain.w = w
		return fill(plain)
	})
	if err := errors.Join(err, out.Flush(), file.Chmod(0o644), file.Close()); err != nil {
		return nil, err
	}
	made := &blob{description: description{compressed.sum(), plain.sum(), compressed.n}, mediaType: layerType(f)}
	made.path = filepath.Join(b.dir, made.digest.Hex)
	return made, os.Rename(file.Name(), made.path)
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
