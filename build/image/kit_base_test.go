package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// server is a registry in this process that counts what is read.
type server struct {
	host string
	mu   sync.Mutex
	gets map[string]int // by the digest of a blob
}

func serve(t testing.TB) *server {
	t.Helper()
	inner := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	s := &server{gets: map[string]int{}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, digest, ok := strings.Cut(r.URL.Path, "/blobs/"); ok && r.Method == http.MethodGet {
			s.mu.Lock()
			s.gets[digest]++
			s.mu.Unlock()
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s.host = strings.TrimPrefix(srv.URL, "http://")
	return s
}

// reads is how often a layer has been read.
func (s *server) reads(t testing.TB, l v1.Layer) int {
	t.Helper()
	h := value[v1.Hash](t)(l.Digest())
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gets[h.String()]
}

// baseImage has a config for linux/amd64 with one history line per layer.
func baseImage(t testing.TB, layers ...v1.Layer) v1.Image {
	t.Helper()
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img = value[v1.Image](t)(mutate.ConfigFile(img, &v1.ConfigFile{
		OS: "linux", Architecture: "amd64", RootFS: v1.RootFS{Type: "layers"},
	}))
	for _, l := range layers {
		mediaType := value[types.MediaType](t)(l.MediaType())
		img = value[v1.Image](t)(mutate.Append(img, mutate.Addendum{
			Layer: l, MediaType: mediaType, History: v1.History{CreatedBy: "base"},
		}))
	}
	return img
}

// fakeLayer is a gzip layer that counts how often it is read. Where stream is
// set, that is what it unpacks to.
type fakeLayer struct {
	plain, packed []byte
	mediaType     types.MediaType
	stream        func() io.Reader
	size          int64 // claimed; 0 is the true one

	reads, open atomic.Int32
}

// tarLayer is a layer of lines, parents not implied:
//
//	dir/ · file=content · link->target · hard=>first
func tarLayer(t testing.TB, lines ...string) *fakeLayer {
	t.Helper()
	var plain, packed bytes.Buffer
	w := tar.NewWriter(&plain)
	for _, line := range lines {
		h := &tar.Header{Name: line, Typeflag: tar.TypeDir, Mode: 0o755}
		data := ""
		if name, target, ok := strings.Cut(line, "->"); ok {
			h.Name, h.Linkname, h.Typeflag = name, target, tar.TypeSymlink
		} else if name, target, ok := strings.Cut(line, "=>"); ok {
			h.Name, h.Linkname, h.Typeflag = name, target, tar.TypeLink
		} else if name, content, ok := strings.Cut(line, "="); ok {
			h.Name, h.Typeflag, h.Mode, h.Size, data = name, tar.TypeReg, 0o644, int64(len(content)), content
		}
		must(t, w.WriteHeader(h))
		_, err := io.WriteString(w, data)
		must(t, err)
	}
	must(t, w.Close())
	z := gzip.NewWriter(&packed)
	_, err := z.Write(plain.Bytes())
	must(t, errors.Join(err, z.Close()))
	return &fakeLayer{plain: plain.Bytes(), packed: packed.Bytes(), mediaType: types.OCILayer}
}

func hashOf(b []byte) (v1.Hash, error) {
	h, _, err := v1.SHA256(bytes.NewReader(b))
	return h, err
}

func (l *fakeLayer) Digest() (v1.Hash, error)            { return hashOf(l.packed) }
func (l *fakeLayer) DiffID() (v1.Hash, error)            { return hashOf(l.plain) }
func (l *fakeLayer) MediaType() (types.MediaType, error) { return l.mediaType, nil }

func (l *fakeLayer) Size() (int64, error) {
	if l.size != 0 {
		return l.size, nil
	}
	return int64(len(l.packed)), nil
}

func (l *fakeLayer) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(l.packed)), nil
}

func (l *fakeLayer) Uncompressed() (io.ReadCloser, error) {
	l.reads.Add(1)
	l.open.Add(1)
	var r io.Reader = bytes.NewReader(l.plain)
	if l.stream != nil {
		r = l.stream()
	}
	return &closing{r, func() { l.open.Add(-1) }}, nil
}

type closing struct {
	io.Reader
	done func()
}

func (c *closing) Close() error { c.done(); return nil }
