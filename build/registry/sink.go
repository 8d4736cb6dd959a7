package registry

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	// maxManifest is four times what registries have to accept
	// (distribution-spec 1.1, "Pushing Manifests").
	maxManifest = 16 << 20
	// inMemory is the largest blob that is not kept in a temporary file while
	// it is being checked.
	inMemory = 4 << 20
)

// sink takes the body of an answer whole and checks it, so that what is cut
// short or corrupted is asked for again before anybody has seen a byte of it.
type sink struct {
	want v1.Hash // zero: whatever comes
	size int64   // of the body; -1: unknown, at most maxManifest
	got  io.ReadCloser
}

// errLarger is final: the next answer would be as large.
var errLarger = errors.New("answer is larger")

// take replaces what an earlier attempt left.
func (s *sink) take(resp *http.Response) error {
	defer func() { resp.Body.Close(); resp.Body = http.NoBody }()
	s.discard()
	limit := s.size
	if limit < 0 {
		limit = maxManifest
	}
	if limit > inMemory && s.size >= 0 {
		return s.spool(resp.Body)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return err
	}
	if s.size < 0 && int64(len(body)) > limit {
		return fmt.Errorf("%w than %d bytes", errLarger, limit)
	}
	if err := s.check(int64(len(body)), digestOf(body)); err != nil {
		return err
	}
	s.got = io.NopCloser(bytes.NewReader(body))
	return nil
}

func (s *sink) spool(body io.Reader) error {
	f, err := os.CreateTemp("", "archmage-blob-*")
	if err != nil {
		return err
	}
	// Where the system allows it, the file is gone as soon as it is closed,
	// whatever happens to this process.
	tmp := &tempFile{f}
	os.Remove(f.Name())
	h, n, err := v1.SHA256(io.TeeReader(io.LimitReader(body, s.size+1), f))
	if err == nil {
		err = s.check(n, h)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return errors.Join(err, tmp.Close())
	}
	s.got = tmp
	return nil
}

func (s *sink) check(size int64, got v1.Hash) error {
	if s.size >= 0 && size != s.size {
		return fmt.Errorf("size mismatch: want %d bytes, got %s", s.size, atLeast(size, s.size))
	}
	if s.want != (v1.Hash{}) && got != s.want {
		return fmt.Errorf("digest mismatch: want %s, got %s", s.want, got)
	}
	return nil
}

func atLeast(size, limit int64) string {
	if size > limit {
		return "more"
	}
	return fmt.Sprint(size)
}

func (s *sink) discard() {
	if s.got != nil {
		s.got.Close()
		s.got = nil
	}
}

// bytes reads what was taken.
func (s *sink) bytes() ([]byte, error) {
	if s.got == nil {
		return nil, io.ErrUnexpectedEOF
	}
	defer s.discard()
	return io.ReadAll(s.got)
}

// tempFile removes itself.
type tempFile struct{ *os.File }

func (t *tempFile) Close() error {
	err := t.File.Close()
	os.Remove(t.Name())
	return err
}

func digestOf(b []byte) v1.Hash {
	h, _, _ := v1.SHA256(bytes.NewReader(b)) // reading memory does not fail
	return h
}
