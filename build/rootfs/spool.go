package rootfs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Limits bound what one archive may make. Zero values stand for the defaults,
// which no honest archive reaches: an archive is as hostile as whoever made it.
type Limits struct {
	Entries int   // entries, and directories that they imply; 1,048,576
	Bytes   int64 // uncompressed, and of all files together; 64 GiB
	Ratio   int64 // of uncompressed to compressed bytes, beyond the first GiB; 1000
}

// ratioFrom is where Limits.Ratio begins to count: highly compressible archives
// of a sensible size are common.
const ratioFrom = 1 << 30

func (l Limits) orDefaults() Limits {
	if l.Entries <= 0 {
		l.Entries = 1 << 20
	}
	if l.Bytes <= 0 {
		l.Bytes = 64 << 30
	}
	if l.Ratio <= 0 {
		l.Ratio = 1000
	}
	return l
}

// LimitError says that an archive makes more than it may.
type LimitError struct{ What string }

// Error implements error.
func (e *LimitError) Error() string { return "archive too large: " + e.What }

// Hint says what to do about it.
func (e *LimitError) Hint() string {
	return "unpack the archive before the build and COPY the directory"
}

// Spool keeps the contents of unpacked archives in temporary files, so that
// they can be read again without being held in memory. Trees that were made
// with it can be read until Close. The zero value works; it may be used
// concurrently.
type Spool struct {
	Dir    string // "" is the system's own
	Limits Limits

	mu    sync.Mutex
	files []*os.File
}

// Close removes the files.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	s.files = nil
	return errors.Join(errs...)
}

// file makes a file that has no name any more, so that nothing stays behind
// however the process ends.
func (s *Spool) file() (*os.File, error) {
	f, err := os.CreateTemp(s.Dir, "archmage-spool-*")
	if err != nil {
		return nil, fmt.Errorf("make spool: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("make spool: %w", err), f.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = append(s.files, f)
	return f, nil
}

// section is a part of a spooled file.
type section struct {
	file      *os.File
	off, size int64
}

// Open implements [Content].
func (s section) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(s.file, s.off, s.size)), nil
}
