package registry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestAHostIsAskedOnceHowToLogIn(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		switch {
		case r.URL.Path == "/token":
			w.Write([]byte(`{"token":"t"}`))
			return true
		case r.Header.Get("Authorization") == "":
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="x"`)
			return refuse(w, 401, "")
		}
		return false
	})
	c, _ := testClient(t, Options{})
	done := make(chan error)
	for _, name := range []string{"a", "b", "c", "d", "a", "b"} {
		go func() {
			_, err := open(t, c, s.host+"/"+name, Write).Head(t.Context(), "v1")
			done <- err
		}()
	}
	for range 6 {
		if err := <-done; !errors.Is(err, ErrAbsent) {
			t.Error(err)
		}
	}
	if pings, tokens := s.count("GET /v2/"), s.count("GET /token"); pings != 1 || tokens != 4 {
		t.Errorf("%d pings and %d tokens for 4 repositories", pings, tokens)
	}
}

// An answer that is no greeting is not taken for one.
func TestAPingThatIsRefusedIsAskedAgain(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		return r.URL.Path == "/v2/" && n == 1 && refuse(w, 404, "")
	})
	c, _ := testClient(t, Options{})
	r := open(t, c, s.host+"/app", Read)
	if _, err := r.Head(t.Context(), "v1"); err == nil || errors.Is(err, ErrAbsent) {
		t.Errorf("after a ping that says nothing: %v", err)
	}
	if _, err := r.Head(t.Context(), "v1"); !errors.Is(err, ErrAbsent) {
		t.Error(err)
	}
}

// apart is a registry that shows no repository the blobs of another, and mounts
// them with answer; 0 begins an upload.
type apart struct {
	answer  int
	mu      sync.Mutex
	mounted []string
}

func (a *apart) fault(w http.ResponseWriter, r *http.Request, _ int) bool {
	if r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/blobs/") {
		return refuse(w, 404, "")
	}
	from := r.URL.Query().Get("from")
	if r.Method != http.MethodPost || from == "" {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mounted = append(a.mounted, from)
	return a.answer != 0 && refuse(w, a.answer, "")
}

// pushAll pushes one image to several repositories at once, with one client.
func pushAll(t *testing.T, s *testServer, img v1.Image, names ...string) []error {
	t.Helper()
	c, _ := testClient(t, Options{Jobs: 4})
	errs := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		r := open(t, c, s.host+"/"+name, Write)
		all.Go(func() { _, errs[i] = r.PutImage(t.Context(), "v1", img) })
	}
	all.Wait()
	return errs
}

func TestALargeLayerIsSentOnceToARegistryAndMountedInTheOtherRepositories(t *testing.T) {
	for _, tt := range []struct{ size, answer, mounted, uploads int }{
		{worthAMount, 201, 2, 1 + 3}, // a layer, and the config of each
		{worthAMount, 0, 2, 3 + 3},
		{worthAMount, 400, 2, 3 + 3},
		{worthAMount - 1, 201, 0, 3 + 3},
	} {
		a := &apart{answer: tt.answer}
		s := serve(t, a.fault)
		if err := errors.Join(pushAll(t, s, testImage(t, "linux/amd64", strings.Repeat("x", tt.size)), "a", "b", "c")...); err != nil {
			t.Error(err)
		}
		if sent := s.count("PUT ") - s.count("PUT /v2/a/manifests") - s.count("PUT /v2/b/manifests") - s.count("PUT /v2/c/manifests"); len(a.mounted) != tt.mounted || sent != tt.uploads {
			t.Errorf("%+v: %d uploads, mounted from %q", tt, sent, a.mounted)
		}
	}
}

// Whoever waits for another upload sends the layer itself when that fails.
func TestALayerThatOneRepositoryRefusesIsSentToTheOthers(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v2/a/") && refuse(w, 403, "")
	})
	errs := pushAll(t, s, testImage(t, "linux/amd64", strings.Repeat("x", worthAMount)), "a", "b", "c")
	if !errors.Is(errs[0], ErrDenied) || errs[1] != nil || errs[2] != nil {
		t.Error(errs)
	}
}

// On one connection all uploads would share what the server lets be under way.
func TestUploadsHaveConnectionsOfTheirOwn(t *testing.T) {
	const uploads = 6
	var begun sync.WaitGroup
	begun.Add(uploads)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun.Done()
		begun.Wait()
		w.Header().Set("Protocol", r.Proto)
		w.Header().Set("From", r.RemoteAddr)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	transport := defaultTransport(uploads)
	transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	transport.TLSClientConfig.NextProtos = nil
	client := http.Client{Transport: transport}
	var mu sync.Mutex
	from := map[string]bool{}
	var all sync.WaitGroup
	for range uploads {
		all.Go(func() {
			resp, err := client.Get(server.URL)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			mu.Lock()
			defer mu.Unlock()
			from[resp.Header.Get("From")] = true
			if p := resp.Header.Get("Protocol"); p != "HTTP/1.1" {
				t.Errorf("spoke %s", p)
			}
		})
	}
	all.Wait()
	if len(from) != uploads {
		t.Errorf("%d connections for %d uploads", len(from), uploads)
	}
}
