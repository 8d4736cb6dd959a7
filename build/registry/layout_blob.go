package registry

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/files"
)

// checkedFile fails at its end when what was read is not what want says.
type checkedFile struct {
	file *os.File
	hash hash.Hash
	want v1.Descriptor
	n    int64
}

func (f *checkedFile) Close() error { return f.file.Close() }

func (f *checkedFile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	f.hash.Write(p[:n])
	f.n += int64(n)
	if err == io.EOF && (f.n != f.want.Size || hex.EncodeToString(f.hash.Sum(nil)) != f.want.Digest.Hex) {
		return n, fmt.Errorf("read %s: digest mismatch: damaged on disk", f.file.Name())
	}
	return n, err
}

// putBlob writes a blob under its digest, unless it is there with its size
// already. The name appears when the bytes are complete and right.
func (l *layout) putBlob(ctx context.Context, d v1.Descriptor, open func() (io.ReadCloser, error)) error {
	if info, err := os.Stat(l.blob(d.Digest)); err == nil && info.Size() == d.Size {
		return nil
	}
	rc, err := open()
	if err != nil {
		return err
	}
	defer rc.Close()
	return files.Replace(l.blob(d.Digest), func(w io.Writer) error {
		got, n, err := v1.SHA256(io.TeeReader(until(ctx, rc), w))
		if err == nil && (n != d.Size || got != d.Digest) {
			err = fmt.Errorf("digest mismatch: want %s of %d bytes, got %s of %d", d.Digest, d.Size, got, n)
		}
		return err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// until is r for as long as ctx lasts.
func until(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return r.Read(p)
	})
}
