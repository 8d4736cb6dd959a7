package registry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ggcrregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// fakeClock is a clock whose sleepers wake at once, with the time moved on.
type fakeClock struct {
	mu    sync.Mutex
	at    time.Time
	slept []time.Duration
	rand  float64
}

func newClock() *fakeClock { return &fakeClock{at: time.Unix(1_700_000_000, 0), rand: 0.5} }

func (c *fakeClock) clock() Clock {
	return Clock{
		Now: func() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at },
		Sleep: func(ctx context.Context, d time.Duration) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.slept = append(c.slept, d)
			c.at = c.at.Add(d)
			return ctx.Err()
		},
		Jitter: func() float64 { return c.rand },
	}
}

func (c *fakeClock) pauses() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.slept)
}

// fault answers a request instead of the registry when it returns true. n
// counts the requests with the same method and path, from 1.
type fault func(w http.ResponseWriter, r *http.Request, n int) bool

// testServer is a registry in process, with faults in front and a log.
type testServer struct {
	host string
	mu   sync.Mutex
	seen []string
	auth map[string]string // of the last request per "METHOD path"
}

func serve(t *testing.T, faults ...fault) *testServer {
	t.Helper()
	inner := ggcrregistry.New(ggcrregistry.Logger(log.New(io.Discard, "", 0)))
	s := &testServer{auth: map[string]string{}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := r.Method + " " + r.URL.Path
		s.mu.Lock()
		s.seen = append(s.seen, line)
		s.auth[line] = r.Header.Get("Authorization")
		n := len(s.matching(line))
		s.mu.Unlock()
		for _, f := range faults {
			if f(w, r, n) {
				return
			}
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s.host = strings.TrimPrefix(srv.URL, "http://")
	return s
}

func (s *testServer) matching(line string) []string {
	var list []string
	for _, l := range s.seen {
		if l == line {
			list = append(list, l)
		}
	}
	return list
}

func (s *testServer) count(prefix string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range s.seen {
		if strings.HasPrefix(l, prefix) {
			n++
		}
	}
	return n
}

func refuse(w http.ResponseWriter, code int, body string) bool {
	w.WriteHeader(code)
	io.WriteString(w, body)
	return true
}

func problem(code string) string {
	return fmt.Sprintf(`{"errors":[{"code":%q,"message":"so it is"}]}`, code)
}

// testClient never waits, and is anonymous whoever runs the test.
func testClient(t *testing.T, o Options) (*Client, *fakeClock) {
	t.Helper()
	c := newClock()
	o.Clock = c.clock()
	if o.Transport == nil {
		// net/http repeats a request by itself when a kept connection ends.
		o.Transport = &http.Transport{DisableKeepAlives: true}
	}
	if o.Auth == (Auth{}) {
		o.Auth.DockerConfig = t.TempDir()
	}
	return New(o), c
}

func open(t *testing.T, c *Client, name string, mode Mode) Repository {
	t.Helper()
	r, err := c.Open(name, mode)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// testImage has one layer per content, with a config for platform.
func testImage(t *testing.T, platform string, contents ...string) v1.Image {
	t.Helper()
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	p, err := v1.ParsePlatform(platform)
	if err != nil {
		t.Fatal(err)
	}
	config, _ := img.ConfigFile()
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = p.OS, p.Architecture, p.Variant
	if img, err = mutate.ConfigFile(img, config); err != nil {
		t.Fatal(err)
	}
	for _, c := range contents {
		img, err = mutate.AppendLayers(img, static.NewLayer([]byte(c), types.OCIUncompressedLayer))
		if err != nil {
			t.Fatal(err)
		}
	}
	return img
}

func testIndex(t *testing.T, images map[string]v1.Image, order ...string) v1.ImageIndex {
	t.Helper()
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, key := range order {
		var p *v1.Platform
		if key != "" {
			p, _ = v1.ParsePlatform(key)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: images[key], Descriptor: v1.Descriptor{Platform: p}})
	}
	return index
}

func digest(t *testing.T, x interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	h, err := x.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h.String()
}

func layerBytes(t *testing.T, img v1.Image, i int) string {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	rc, err := layers[i].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, rc); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func putIndex(t *testing.T, r Repository, tag string, index v1.ImageIndex) string {
	t.Helper()
	raw, err := index.RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewManifest(raw, types.OCIImageIndex)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.PutManifest(t.Context(), tag, m); err != nil {
		t.Fatal(err)
	}
	return m.Digest.String()
}

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// checkImage reads all of an image, and compares digests.
func checkImage(t *testing.T, img v1.Image) {
	t.Helper()
	config, err := img.RawConfigFile()
	if err != nil {
		t.Error(err)
		return
	}
	if name, err := img.ConfigName(); err != nil || digestOf(config) != name {
		t.Errorf("config %s is %s, %v", name, digestOf(config), err)
	}
	for i, l := range mustLayers(t, img) {
		if got := digestOf([]byte(layerBytes(t, img, i))).String(); got != digest(t, l) {
			t.Errorf("layer %d is %s, want %s", i, got, digest(t, l))
		}
	}
}
