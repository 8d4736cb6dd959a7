package registry

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A tag names bytes whose digest the answer gives: others were corrupted on the
// way, however well they parse.
func TestCorruptedBytesOfATagAreReadAgainByDigest(t *testing.T) {
	img := testImage(t, "linux/amd64", "one")
	raw, err := img.RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	corrupt := strings.Replace(string(raw), `"schemaVersion":2`, `"schemaVersion":3`, 1)
	srv := seeded(t, img, first(1, "GET /v2/app/manifests/v1", status(200, corrupt, "Docker-Content-Digest", digest(t, img), "Content-Type", string(types.OCIManifestSchema1))))
	c, _ := testClient(t, Options{})
	m, err := open(t, c, srv.host+"/app", Read).Manifest(t.Context(), "v1")
	if err != nil || string(m.Raw) != string(raw) || m.Digest.String() != digest(t, img) {
		t.Errorf("%s, %v", m.Raw, err)
	}
}

func TestADigestInAHeaderThatNamesNothingIsPassedOver(t *testing.T) {
	img := testImage(t, "linux/amd64", "one")
	raw, _ := img.RawManifest()
	srv := seeded(t, img, first(9, "GET /v2/app/manifests/v1", status(200, string(raw), "Docker-Content-Digest", "sha256:"+strings.Repeat("0", 64), "Content-Type", string(types.OCIManifestSchema1))))
	c, _ := testClient(t, Options{})
	m, err := open(t, c, srv.host+"/app", Read).Manifest(t.Context(), "v1")
	if err != nil || m.Digest.String() != digest(t, img) {
		t.Errorf("%+v, %v", m, err)
	}
}

// The body that tells a rate limit from a denial is not in the answer to a HEAD.
func TestABlobIsAskedForByGetWhereAHeadIsDenied(t *testing.T) {
	img := testImage(t, "linux/amd64", "one")
	layer := digest(t, mustLayers(t, img)[0])
	srv := seeded(t, img, func(w http.ResponseWriter, r *http.Request, n int) bool {
		if !strings.HasSuffix(r.URL.Path, layer) || r.Method == http.MethodGet && n > 1 {
			return false
		}
		return refuse(w, 403, "You have exceeded a secondary rate limit.")
	})
	c, clock := testClient(t, Options{RetryMax: 1})
	if err := open(t, c, srv.host+"/app", Read).HasBlob(t.Context(), layer); err != nil {
		t.Error(err)
	}
	if got := clock.pauses(); len(got) != 1 || got[0] < 30*time.Second {
		t.Errorf("waited %v", got)
	}
}

func TestALoginCutShortInTheMiddleOfARunIsRepeated(t *testing.T) {
	var expired atomic.Bool
	var cuts atomic.Int32
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if expired.Load() && cuts.Add(1) <= 2 {
			cut(w, r)
		}
		io.WriteString(w, map[bool]string{false: `{"token":"first"}`, true: `{"token":"second"}`}[expired.Load()])
	}))
	t.Cleanup(tokens.Close)
	realm := strings.Replace(tokens.URL, "127.0.0.1", "localhost", 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		if good := map[bool]string{false: "Bearer first", true: "Bearer second"}[expired.Load()]; r.Header.Get("Authorization") == good {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`/token",service="x"`)
		return refuse(w, 401, problem("UNAUTHORIZED"))
	})
	c, _ := testClient(t, Options{RetryMax: 2})
	r := open(t, c, s.host+"/app", Write)
	if _, err := r.PutImage(t.Context(), "v1", testImage(t, "linux/amd64", "one")); err != nil {
		t.Fatal(err)
	}
	expired.Store(true)
	if _, err := r.Manifest(t.Context(), "v1"); err != nil || cuts.Load() != 3 {
		t.Errorf("%v after %d logins", err, cuts.Load())
	}
}

// What was given up on is neither absent nor denied, and says what to do.
func TestGivingUpLeavesTheQuestionOpen(t *testing.T) {
	again, fewer := "run the same command again", "wants fewer requests"
	for _, tt := range []struct {
		wrong      func(http.ResponseWriter, *http.Request)
		says, hint string
	}{
		{status(403, "", "Retry-After", "1"), "403 Forbidden (tried 3 times)", fewer},
		{status(403, "secondary rate limit"), "secondary rate limit (tried 3 times)", fewer},
		{status(429, "", "Retry-After", "3600"), "(it asks to wait 1h0m0s, which is too long)", fewer},
		{status(503, ""), "503 Service Unavailable (tried 3 times)", again},
		{cut, "(tried 3 times)", again},
	} {
		img := testImage(t, "linux/amd64", "one")
		srv := seeded(t, img, first(9, "GET /v2/app/manifests/v1", tt.wrong))
		c, _ := testClient(t, Options{RetryMax: 2})
		_, err := open(t, c, srv.host+"/app", Write).Manifest(t.Context(), "v1")
		var e *Error
		if !errors.As(err, &e) || errors.Is(err, ErrAbsent) || errors.Is(err, ErrDenied) || !strings.HasSuffix(err.Error(), tt.says) || !strings.Contains(e.Hint(), tt.hint) {
			t.Errorf("%v, hint %q; want %q, %q", err, e.Hint(), tt.says, tt.hint)
		}
	}
}

func TestAnUploadThatIsLostEachTimeIsNoAbsence(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/blobs/") && refuse(w, 404, problem("BLOB_UPLOAD_UNKNOWN"))
	})
	c, _ := testClient(t, Options{RetryMax: 1})
	_, err := open(t, c, srv.host+"/app", Write).PutImage(t.Context(), "v1", testImage(t, "linux/amd64", "one"))
	var e *Error
	if !errors.As(err, &e) || errors.Is(err, ErrAbsent) || !strings.Contains(e.Hint(), "run the same command again") {
		t.Errorf("%v, hint %q", err, e.Hint())
	}
}
