package audit

import (
	"hash"
	"io"
	"os"
	"strings"

	"github.com/archmage-go/archmage/build/rootfs"
)

const (
	headSize  = 20       // bytes: what tells format and machine of an ELF file
	smallFile = 64 << 10 // bytes: passwd, ld.so.conf and scripts are smaller
	// mostKept bounds what is kept of one image, in bytes.
	mostKept = 16 << 30
)

// room is where an image's files are kept while it is looked at.
type room struct {
	dir  string
	left int64 // bytes
}

// file makes a file that has no name, so that nothing stays behind however the
// process ends. Some systems keep the name until the file is closed.
func (r *room) file() (*os.File, error) {
	f, err := os.CreateTemp(r.dir, "archmage-audit-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	return f, nil
}

// sieve is a layer's stream on its way to [rootfs.ReadLayer]. It remembers how
// every regular file begins, and keeps programs, lists of packages and what is
// small in a sparse file, each at the place that it has in the stream.
type sieve struct {
	in     io.Reader
	room   *room
	sum    hash.Hash // of the whole stream
	heads  map[int64]string
	kept   map[int64]bool
	spool  *os.File
	failed error // of the spool, which says nothing about the image

	pos       int64
	off, size int64 // of the file that passes
	head      []byte
	keep      bool
}

// file is told of each regular file before its first byte passes.
func (s *sieve) file(off, size int64) rootfs.Content {
	s.off, s.size, s.head, s.keep = off, size, s.head[:0], false
	return &rootfs.Section{Off: off, Size: size}
}

// Read implements io.Reader.
func (s *sieve) Read(p []byte) (int, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	n, err := s.in.Read(p)
	start := s.pos
	s.pos += int64(n)
	s.sum.Write(p[:n])
	if from, to := max(s.off, start), min(s.off+s.size, s.pos); from < to {
		s.pass(from, p[from-start:to-start])
	}
	if s.failed != nil {
		return n, s.failed
	}
	return n, err
}

// pass takes bytes of the current file, which are at from.
func (s *sieve) pass(from int64, b []byte) {
	if want := int(min(headSize, s.size)); len(s.head) < want {
		n := min(want-len(s.head), len(b))
		s.head = append(s.head, b[:n]...)
		from, b = from+int64(n), b[n:]
		if len(s.head) < want {
			return
		}
		s.decide()
	}
	if s.keep && len(b) > 0 {
		s.write(from, b)
	}
}

func (s *sieve) decide() {
	s.heads[s.off] = string(s.head)
	if head := s.heads[s.off]; !(s.size <= smallFile || executable(head) || listing(head)) || s.size > s.room.left {
		return
	}
	s.room.left -= s.size
	s.keep, s.kept[s.off] = true, true
	s.write(s.off, s.head)
}

func (s *sieve) write(at int64, b []byte) {
	if s.spool == nil {
		if s.spool, s.failed = s.room.file(); s.failed != nil {
			return
		}
	}
	if _, err := s.spool.WriteAt(b, at); err != nil {
		s.failed = err
	}
}

// executable reports whether a file that begins so may be one that a system
// starts: ELF, a script, PE or Mach-O.
func executable(head string) bool {
	for _, magic := range []string{"\x7fELF", "#!", "MZ", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if strings.HasPrefix(head, magic) {
			return true
		}
	}
	return false
}
