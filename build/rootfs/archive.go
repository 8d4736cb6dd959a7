package rootfs

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// maxDictionary bounds the memory that a header of an xz stream can ask for. It
// is what zstd allows by itself.
const maxDictionary = 512 << 20

// archive is a tar stream that was found to be one by its content.
type archive struct {
	*tar.Reader
	first *tar.Header // already read, by the detection
	meter *meter
	close func() error
}

// openArchive opens the tar archive that n holds, plain or compressed with gzip,
// bzip2, xz or zstd. It is nil if n is none: what counts is that its first
// header can be parsed, as for BuildKit v0.34.2; names say nothing. An error
// means that it could not be found out.
func openArchive(ctx context.Context, n *Node, lim Limits) (*archive, error) {
	raw, err := n.open()
	if err != nil {
		return nil, err
	}
	m := &meter{limits: lim.orDefaults()}
	a, err := newArchive(m.input(ctx, raw), m)
	if a == nil || err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	unzip := a.close
	a.close = func() error { return errors.Join(unzip(), raw.Close()) }
	return a, nil
}

func newArchive(r io.Reader, m *meter) (*archive, error) {
	plain, done, err := decompress(bufio.NewReaderSize(r, 64<<10))
	if err == nil {
		a := &archive{Reader: tar.NewReader(m.output(plain)), meter: m, close: done}
		if a.first, err = a.Next(); err == nil {
			return a, nil
		}
		err = errors.Join(err, done())
	}
	var limit *LimitError
	switch {
	case m.failed != nil:
		return nil, m.failed
	case errors.As(err, &limit), errors.Is(err, xz.ErrMemlimit):
		return nil, err
	}
	return nil, nil
}

// decompress undoes the compression that the first bytes tell. Nothing is read
// ahead of what the caller asks for but one buffer, so what follows the end of
// an archive does not matter.
func decompress(r *bufio.Reader) (plain io.Reader, done func() error, err error) {
	none := func() error { return nil }
	head, _ := r.Peek(10) // an error comes back with the first read
	switch {
	case bytes.HasPrefix(head, []byte("BZh")):
		return bzip2.NewReader(r), none, nil
	case bytes.HasPrefix(head, []byte("\x1f\x8b\x08")):
		z, err := gzip.NewReader(r)
		return z, none, err
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		z, err := xz.NewReader(r, maxDictionary)
		return z, none, err
	case isZstd(head):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, err
		}
		return z, func() error { z.Close(); return nil }, nil
	}
	return r, none, nil
}

// isZstd reports a Zstandard frame, or one of the sixteen kinds of frames to
// skip (RFC 8878, section 3.1).
func isZstd(head []byte) bool {
	if len(head) < 8 {
		return bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd"))
	}
	magic := binary.LittleEndian.Uint32(head)
	return magic == 0xfd2fb528 || magic&^0xf == 0x184d2a50
}

// meter counts what goes through an archive and enforces its limits.
type meter struct {
	limits  Limits
	in      int64 // compressed bytes read
	out     int64 // bytes of the tar stream
	data    int64 // bytes of files, which in sparse ones the stream does not hold
	entries int
	text    int   // bytes of names, which are held in memory
	failed  error // of the source itself, which says nothing about the archive
}

// readerFunc is an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (m *meter) input(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if m.failed == nil {
			m.failed = ctx.Err()
		}
		if m.failed != nil {
			return 0, m.failed
		}
		n, err := r.Read(p)
		m.in += int64(n)
		if err != nil && err != io.EOF {
			m.failed = err
		}
		return n, err
	})
}

func (m *meter) output(r io.Reader) io.Reader { return m.count(r, &m.out) }

func (m *meter) count(r io.Reader, sum *int64) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		*sum += int64(n)
		if *sum > m.limits.Bytes {
			return 0, &LimitError{What: fmt.Sprintf("more than %d bytes", m.limits.Bytes)}
		}
		if *sum > ratioFrom && *sum/m.limits.Ratio > m.in {
			return 0, &LimitError{What: fmt.Sprintf("%d bytes out of %d compressed ones", *sum, m.in)}
		}
		return n, err
	})
}

// entry counts one more entry, or directory that an entry implies, with the
// bytes of its names.
func (m *meter) entry(text int) error {
	m.entries++
	m.text += text
	switch {
	case m.entries > m.limits.Entries:
		return &LimitError{What: fmt.Sprintf("more than %d entries", m.limits.Entries)}
	case m.text > maxText:
		return &LimitError{What: fmt.Sprintf("names of more than %d bytes in all", maxText)}
	}
	return nil
}
