package audit

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// stored is a layer as its manifest lists it.
type stored struct {
	entry v1.Descriptor
	layer v1.Layer
}

// mostNames bounds the names, links and attributes of one layer, in bytes.
const mostNames = 256 << 20

// scan is what a layer's tar lists, in its order.
type scan struct {
	sum   string // of the uncompressed stream
	lines []line
	spool *os.File // programs, one after the other
	end   int64    // of what is in spool
	room  *room
	text  int
}

// line is one entry of a tar.
type line struct {
	name   string
	header tar.Header
	sum    string // of its content, where it is a regular file
	at     int64  // of it in the spool; -1 where it is not there
}

// read scans a layer once, to its end. The caller closes it.
func (s *scan) read(ctx context.Context, from stored) error {
	in, err := unpack(ctx, from.layer)
	if err != nil {
		return err
	}
	defer in.Close()
	whole := sha256.New()
	stream := io.TeeReader(in, whole)
	t := tar.NewReader(stream)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := s.line(t, h); err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, stream) // padding counts, too
	s.sum = hex.EncodeToString(whole.Sum(nil))
	return err
}

func (s *scan) line(r io.Reader, h *tar.Header) (err error) {
	s.text += len(h.Name) + len(h.Linkname)
	for key, value := range h.PAXRecords {
		s.text += len(key) + len(value)
	}
	if len(s.lines) == maxEntries || s.text > mostNames {
		return fmt.Errorf("it lists more than %d files, or %d bytes of names", maxEntries, mostNames)
	}
	l := line{name: path.Join("/", h.Name), header: *h, at: -1}
	switch {
	case sparse(h):
		l.sum = "sparse" // holes may be of any size
	case h.Typeflag == tar.TypeReg:
		err = s.content(r, &l)
	}
	s.lines = append(s.lines, l)
	return err
}

// sparse reports whether what a tar reader makes of a file is more than is
// stored.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}

// content sums a file, and keeps it where it is a program.
func (s *scan) content(r io.Reader, l *line) error {
	head := make([]byte, min(headSize, l.header.Size))
	if _, err := io.ReadFull(r, head); err != nil {
		return err
	}
	sum := sha256.New()
	to := io.Writer(sum)
	if size := l.header.Size; executable(string(head)) && !bytes.HasPrefix(head, []byte("#!")) && size <= s.room.left {
		if s.spool == nil {
			f, err := s.room.file()
			if err != nil {
				return err
			}
			s.spool = f
		}
		l.at = s.end
		s.end, s.room.left = s.end+size, s.room.left-size
		to = io.MultiWriter(sum, io.NewOffsetWriter(s.spool, l.at))
	}
	_, err := io.Copy(to, io.MultiReader(bytes.NewReader(head), r))
	l.sum = hex.EncodeToString(sum.Sum(nil))
	return err
}

func (s *scan) close() {
	if s.spool != nil {
		s.spool.Close()
	}
}

// program is what was kept of a file; nil where nothing was.
func (s *scan) program(l line) io.ReaderAt {
	if l.at < 0 {
		return nil
	}
	return io.NewSectionReader(s.spool, l.at, l.header.Size)
}
