package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// seeded is a server that holds an image under app:v1, pushed before the faults
// begin to count.
func seeded(t *testing.T, img v1.Image, f fault) *testServer {
	t.Helper()
	ready := false
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool { return ready && f(w, r, n) })
	c, _ := testClient(t, Options{})
	if _, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", img); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.seen, ready = nil, true
	s.mu.Unlock()
	return s
}

// first makes the first n requests whose line begins with prefix go wrong.
func first(count int, prefix string, wrong func(w http.ResponseWriter, r *http.Request)) fault {
	return func(w http.ResponseWriter, r *http.Request, n int) bool {
		if n > count || !strings.HasPrefix(r.Method+" "+r.URL.Path, prefix) {
			return false
		}
		wrong(w, r)
		return true
	}
}

func status(code int, body string, header ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		refuse(w, code, body)
	}
}

// cut promises a long body and ends the connection.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000000")
	io.WriteString(w, "{")
	panic(http.ErrAbortHandler)
}

func TestWhichRequestsAreRepeatedAndHowLongTheyWait(t *testing.T) {
	date := newClock().at.Add(90 * time.Second).UTC().Format(http.TimeFormat)
	const s = time.Second
	for _, tt := range []struct {
		name  string
		fails int
		wrong func(http.ResponseWriter, *http.Request)
		ok    bool
		waits []time.Duration // with jitter in its middle
	}{
		{"408", 1, status(408, ""), true, []time.Duration{s}},
		{"429", 1, status(429, ""), true, []time.Duration{s}},
		{"500", 1, status(500, ""), true, []time.Duration{s}},
		{"502, doubling", 3, status(502, ""), true, []time.Duration{s, 2 * s, 4 * s}},
		{"504 too often", 4, status(504, ""), false, []time.Duration{s, 2 * s, 4 * s}},
		{"400", 1, status(400, ""), false, nil},
		{"404", 1, status(404, ""), false, nil},
		{"403", 1, status(403, problem("DENIED")), false, nil},
		{"501", 1, status(501, ""), false, nil},
		{"a code says it", 1, status(400, problem("TOOMANYREQUESTS")), true, []time.Duration{s}},
		{"429 with Retry-After", 1, status(429, "", "Retry-After", "20"), true, []time.Duration{21 * s}},
		{"503 with Retry-After", 1, status(503, "", "Retry-After", "20"), true, []time.Duration{21 * s}},
		{"a date in Retry-After", 1, status(503, "", "Retry-After", date), true, []time.Duration{94500 * time.Millisecond}},
		{"nonsense in Retry-After", 1, status(503, "", "Retry-After", "soon"), true, []time.Duration{s}},
		{"Retry-After that is past", 1, status(429, "", "Retry-After", "0"), true, []time.Duration{s}},
		{"Retry-After of ten minutes", 1, status(429, "", "Retry-After", "600"), true, []time.Duration{630 * s}},
		{"Retry-After beyond them", 1, status(429, "", "Retry-After", "601"), false, nil},
		{"secondary rate limit", 2, status(403, "You have exceeded a Secondary Rate Limit."), true, []time.Duration{60 * s, 120 * s}},
		{"secondary with Retry-After", 1, status(403, "secondary rate limit", "Retry-After", "10"), true, []time.Duration{10500 * time.Millisecond}},
		{"403 with Retry-After", 1, status(403, "", "Retry-After", "10"), true, []time.Duration{10500 * time.Millisecond}},
		{"reset", 1, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, []time.Duration{s}},
		{"cut short", 2, cut, true, []time.Duration{s, 2 * s}},
		{"other bytes", 2, status(200, "{}", "Content-Type", string(types.OCIManifestSchema1)), true, []time.Duration{s, 2 * s}},
		{"other bytes for ever", 9, status(200, "{}"), false, []time.Duration{s, 2 * s, 4 * s}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			img := testImage(t, "linux/amd64", "one")
			srv := seeded(t, img, first(tt.fails, "GET /v2/app/manifests/", tt.wrong))
			c, clock := testClient(t, Options{RetryMax: 3, RetryDelay: s})
			_, err := open(t, c, srv.host+"/app", Read).Manifest(t.Context(), digest(t, img))
			if (err == nil) != tt.ok {
				t.Errorf("error %v", err)
			}
			if tt.name != "404" && errors.Is(err, ErrAbsent) {
				t.Errorf("it says absent: %v", err)
			}
			if got := clock.pauses(); !slices.Equal(got, tt.waits) {
				t.Errorf("waited %v, want %v", got, tt.waits)
			}
			if got, want := srv.count("GET /v2/app/manifests/"), len(tt.waits)+1; got != want {
				t.Errorf("%d requests, want %d", got, want)
			}
		})
	}
}

func TestJitterNeverShortensWhatWasAskedFor(t *testing.T) {
	for _, r := range []float64{0, 0.999} {
		c := newClock()
		c.rand = r
		p := &pacer{max: 9, delay: time.Second, clock: c.clock()}
		if d := p.pause(&again{after: 20 * time.Second}, 3); d < 20*time.Second || d > 22*time.Second {
			t.Errorf("Retry-After of 20s became %s", d)
		}
		for n := range 9 {
			if d := p.pause(&again{secondary: true}, n); d < 30*time.Second || d > 13*time.Minute {
				t.Errorf("pause %d for a secondary rate limit is %s", n, d)
			}
		}
		p.delay = 0
		if d := p.pause(&again{secondary: true}, 0); d < 30*time.Second {
			t.Errorf("the configured delay scaled a rate limit to %s", d)
		}
		if d := p.pause(&again{}, 50); d != 0 {
			t.Errorf("no delay became %s", d)
		}
	}
}

func TestARateLimitHoldsEveryRequestToThatHostAndNoOther(t *testing.T) {
	limited := serve(t, first(1, "HEAD /v2/app/manifests/a", status(429, "", "Retry-After", "40")))
	other := serve(t)
	var told []string
	c, _ := testClient(t, Options{Notify: func(w Wait) { told = append(told, w.String()) }, RetryMax: 1})
	app := open(t, c, limited.host+"/app", Read)
	if _, err := app.Head(t.Context(), "a"); !errors.Is(err, ErrAbsent) {
		t.Fatal(err)
	}
	if want := []string{"waiting 42s: " + limited.host + " rate limit"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}

	c, clock := testClient(t, Options{}) // no retries: the hold remains for the others
	app = open(t, c, limited.host+"/app", Read)
	limited.mu.Lock()
	limited.seen = nil
	limited.mu.Unlock()
	if _, err := app.Head(t.Context(), "a"); err == nil || errors.Is(err, ErrAbsent) {
		t.Fatal(err)
	}
	if got := clock.pauses(); len(got) != 0 {
		t.Errorf("waited %v without a retry left", got)
	}
	if _, err := open(t, c, other.host+"/app", Read).Head(t.Context(), "a"); !errors.Is(err, ErrAbsent) || len(clock.pauses()) != 0 {
		t.Errorf("another host waited %v: %v", clock.pauses(), err)
	}
	if _, err := app.Head(t.Context(), "b"); !errors.Is(err, ErrAbsent) {
		t.Error(err)
	}
	if got := clock.pauses(); !slices.Equal(got, []time.Duration{42 * time.Second}) {
		t.Errorf("the next request to the host waited %v", got)
	}
}

func TestCancellingEndsAWaitAtOnce(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool { return refuse(w, 503, "") })
	ctx, cancel := context.WithCancel(t.Context())
	c := New(Options{
		Auth: Auth{DockerConfig: t.TempDir()}, RetryMax: 1, RetryDelay: 24 * time.Hour,
		Notify: func(Wait) { cancel() },
	})
	_, err := open(t, c, s.host+"/app", Read).Head(ctx, "v1")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestLoginRequestsAreRepeatedEachOnItsOwn(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		if n <= 2 {
			return refuse(w, 503, "")
		}
		switch {
		case r.URL.Path == "/token":
			if n == 3 {
				cut(w, r)
			}
			io.WriteString(w, `{"token":"t"}`)
			return true
		case r.Header.Get("Authorization") == "":
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="x"`)
			return refuse(w, 401, "")
		}
		return false
	})
	c, _ := testClient(t, Options{RetryMax: 3})
	if _, err := open(t, c, s.host+"/app", Read).Head(t.Context(), "v1"); !errors.Is(err, ErrAbsent) {
		t.Error(err)
	}
	if ping, token := s.count("GET /v2/"), s.count("GET /token"); ping != 3 || token != 4 {
		t.Errorf("%d pings and %d tokens", ping, token)
	}
}

func TestBlobsAreCheckedBeforeAnybodySeesThem(t *testing.T) {
	for _, size := range []int{10, inMemory + 10} {
		content := strings.Repeat("x", size)
		img := testImage(t, "linux/amd64", content)
		h := digest(t, mustLayers(t, img)[0])
		for name, wrong := range map[string]func(http.ResponseWriter, *http.Request){
			"cut":     cut,
			"shorter": status(200, content[1:]),
			"other":   status(200, "y"+content[1:]),
			"longer":  status(200, content+"x"),
		} {
			if size > inMemory && len(name) > 5 {
				continue // two of them will do, they are slow to hash
			}
			s := seeded(t, img, first(2, "GET /v2/app/blobs/"+h, wrong))
			c, _ := testClient(t, Options{RetryMax: 2})
			back, err := open(t, c, s.host+"/app", Read).Image(t.Context(), digest(t, img))
			if err != nil {
				t.Fatal(err)
			}
			if got := layerBytes(t, back, 0); got != content {
				t.Errorf("%d bytes, %s: read %d others", size, name, len(got))
			}
			s = seeded(t, img, first(9, "GET /v2/app/blobs/"+h, wrong))
			back, err = open(t, c, s.host+"/app", Read).Image(t.Context(), digest(t, img))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := mustLayers(t, back)[0].Compressed(); err == nil || errors.Is(err, ErrAbsent) {
				t.Errorf("%d bytes, %s, for ever: %v", size, name, err)
			}
		}
	}
}

func TestAFailedUploadRestartsAsAWhole(t *testing.T) {
	for name, wrong := range map[string]func(http.ResponseWriter, *http.Request){
		"500":     status(500, ""),
		"reset":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"invalid": status(400, problem("BLOB_UPLOAD_INVALID")),
		"unknown": status(404, problem("BLOB_UPLOAD_UNKNOWN")),
		"digest":  status(400, problem("DIGEST_INVALID")),
		"gone":    status(404, ""),
	} {
		fails := 0
		s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
			if r.Method != "PUT" || !strings.Contains(r.URL.Path, "/uploads/") || fails == 2 {
				return false
			}
			fails++
			io.Copy(io.Discard, r.Body)
			wrong(w, r)
			return true
		})
		c, _ := testClient(t, Options{RetryMax: 2})
		if _, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", testImage(t, "linux/amd64")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := s.count("POST "); n != 3 {
			t.Errorf("%s: %d uploads were begun, want 3", name, n)
		}
	}
}

func TestARefusedUploadIsNotRepeated(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		return r.Method == "PUT" && refuse(w, 403, problem("DENIED"))
	})
	c, _ := testClient(t, Options{RetryMax: 2})
	_, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", testImage(t, "linux/amd64"))
	if !errors.Is(err, ErrDenied) || s.count("POST ") != 1 {
		t.Errorf("%d uploads: %v", s.count("POST "), err)
	}
}

// brokenLayer fails in the middle of its bytes.
type brokenLayer struct{ v1.Layer }

func (b brokenLayer) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader("o"), errReader{})), nil
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("disk is broken") }

type brokenImage struct{ v1.Image }

func (b brokenImage) Layers() ([]v1.Layer, error) {
	layers, err := b.Image.Layers()
	return []v1.Layer{brokenLayer{layers[0]}}, err
}

func TestALayerThatCannotBeReadIsNotSentAgain(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{RetryMax: 2})
	_, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", brokenImage{testImage(t, "linux/amd64", "one")})
	// The config is sent meanwhile.
	if err == nil || !strings.Contains(err.Error(), "disk is broken") || s.count("POST ") > 2 {
		t.Errorf("%d uploads: %v", s.count("POST "), err)
	}
}

func TestAManifestWaitsForItsBlobs(t *testing.T) {
	for _, code := range []int{400, 404} {
		s := serve(t, first(2, "PUT /v2/app/manifests/v1", status(code, problem("MANIFEST_BLOB_UNKNOWN"))))
		c, _ := testClient(t, Options{RetryMax: 2})
		if _, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", testImage(t, "linux/amd64")); err != nil {
			t.Error(err)
		}
	}
	s := serve(t, first(9, "PUT /v2/app/manifests/v1", status(404, problem("NAME_UNKNOWN"))))
	c, _ := testClient(t, Options{RetryMax: 2})
	_, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", testImage(t, "linux/amd64"))
	var hint interface{ Hint() string }
	if err == nil || errors.Is(err, ErrAbsent) || s.count("PUT /v2/app/manifests/") != 1 || !errors.As(err, &hint) || hint.Hint() == "" {
		t.Errorf("a repository that is not made by pushing: %v", err)
	}
}

// silent takes from the answers to writes what the registry has stored.
type silent struct{ http.RoundTripper }

func (s silent) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(req)
	if err == nil && req.Method == http.MethodPut {
		resp.Header.Del("Docker-Content-Digest")
	}
	return resp, err
}

func TestAnImageIsReadBackWhereTheRegistryDoesNotSayWhatItStored(t *testing.T) {
	for want, transport := range []http.RoundTripper{&http.Transport{}, silent{&http.Transport{}}} {
		s := serve(t)
		c, _ := testClient(t, Options{Transport: transport})
		if _, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", testImage(t, "linux/amd64")); err != nil {
			t.Error(err)
		}
		if got := s.count("HEAD /v2/app/manifests/"); got != want {
			t.Errorf("read back %d times, want %d", got, want)
		}
	}
}

func TestAnAnswerFromBeforeOurWriteIsAskedForAgain(t *testing.T) {
	old := testImage(t, "linux/amd64", "old")
	for name, wrong := range map[string]func(http.ResponseWriter, *http.Request){
		"absent": status(404, ""),
		"stale": status(200, "", "Docker-Content-Digest", digest(t, old), "Content-Type", string(types.OCIManifestSchema1),
			"Content-Length", "100"),
	} {
		for fails, ok := range map[int]bool{2: true, 9: false} {
			s := serve(t, first(fails, "HEAD /v2/app/manifests/v1", wrong))
			c, _ := testClient(t, Options{RetryMax: 2, Transport: silent{&http.Transport{}}})
			_, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", testImage(t, "linux/amd64"))
			if (err == nil) != ok || errors.Is(err, ErrAbsent) {
				t.Errorf("%s %d times: %v", name, fails, err)
			}
		}
	}
}

func TestNobodyListeningIsNotRepeated(t *testing.T) {
	s := serve(t)
	host := s.host
	c, clock := testClient(t, Options{RetryMax: 5, RetryDelay: time.Second, Transport: dialing(map[string]string{})})
	_, err := open(t, c, host+"/app", Read).Head(t.Context(), "v1")
	if want := "read " + host + "/app:v1: dial: connection refused"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if len(clock.pauses()) != 0 {
		t.Errorf("waited %v", clock.pauses())
	}
	if h := err.(*Error).Hint(); !strings.Contains(h, "archmage-registry --listen "+host) {
		t.Errorf("hint %q", h)
	}
}

func TestUploadsOfOneRunShareBlobs(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{Jobs: 4})
	r := open(t, c, s.host+"/app", Write)
	errs := make(chan error)
	for i := range 8 {
		go func() {
			_, err := r.PutImage(t.Context(), fmt.Sprint("v", i), testImage(t, "linux/amd64", "shared"))
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	config, _ := partial.ConfigLayer(testImage(t, "linux/amd64", "shared"))
	if n := s.count("POST "); n != 2 {
		t.Errorf("%d uploads of one layer and config %s", n, digest(t, config))
	}
}
