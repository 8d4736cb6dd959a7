package image

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// site serves what a path says, and knows a secret that must show up nowhere.
const secret = "hunter2"

func site(t testing.TB) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(path string, f http.HandlerFunc) { mux.HandleFunc(path, f) }
	serve("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
		io.WriteString(w, "content")
	})
	serve("/undated", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "content") })
	serve("/strange", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Last-Modified", "yesterday")
		io.WriteString(w, "content")
	})
	serve("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/file", http.StatusFound) })
	serve("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	serve("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	serve("/private", func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != secret || r.URL.Query().Get("token") != secret {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		io.WriteString(w, "private")
	})
	serve("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "less")
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func TestARemoteFileIsAdded(t *testing.T) {
	n, srv := newNative(t), site(t)
	private := strings.Replace(srv.URL, "//", "//user:"+secret+"@", 1) + "/private?token=" + secret
	for add, want := range map[string]string{
		srv.URL + "/file /x/":                   "x/file 600 0:0 @1445412480 =content",
		srv.URL + "/moved /x/":                  "x/moved 600 0:0 @1445412480 =content",
		srv.URL + "/undated /x/":                "x/undated 600 0:0 @0 =content",
		srv.URL + "/strange /x/":                "x/strange 600 0:0 @0 =content",
		srv.URL + "/file /x/a":                  "x/a 600 0:0 @1445412480 =content",
		"--chmod=4755 " + srv.URL + "/file /x/": "x/file 4755 0:0 @1445412480 =content",
		"--chown=7:8 " + srv.URL + "/file /x/":  "x/file 600 7:8 @1445412480 =content",
		private + " /x/":                        "x/private 600 0:0 @0 =private",
	} {
		img := n.build(t, plant(t, nil), "FROM scratch\nADD "+add+"\n")
		if got := top(t, img); len(got) != 2 || got[1] != want {
			t.Errorf("ADD %s: %q, want %s", add, got, want)
		}
	}
}

func TestAChecksumDecides(t *testing.T) {
	n, srv := newNative(t), site(t)
	right := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("content")))
	n.build(t, plant(t, nil), "FROM scratch\nADD --checksum="+right+" "+srv.URL+"/file /\n")
	wrong := "sha256:" + strings.Repeat("0", 64)
	before := value[[]os.DirEntry](t)(os.ReadDir(n.Blobs.dir))
	_, err := n.Blobs.fetch(t.Context(), &dockerfile.HTTP{URL: srv.URL + "/file", Checksum: wrong})
	says(t, err, "digest mismatch "+right+": "+wrong)
	if after := value[[]os.DirEntry](t)(os.ReadDir(n.Blobs.dir)); len(after) != len(before) {
		t.Errorf("left behind: %v", after)
	}
}

// fetchFails gives the error of a fetch that must fail and leave nothing.
func fetchFails(t testing.TB, ctx context.Context, b *Blobs, url string) error {
	t.Helper()
	got, err := b.fetch(ctx, &dockerfile.HTTP{URL: url})
	if err == nil {
		t.Fatalf("fetched %d bytes", got.size)
	}
	if left := value[[]os.DirEntry](t)(os.ReadDir(b.dir)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return err
}

func TestWhatASiteDoesNotGiveIsAnError(t *testing.T) {
	srv := site(t)
	closed := httptest.NewServer(nil)
	closed.Close()
	for url, want := range map[string]string{
		srv.URL + "/none":                         "the server answers 404 Not Found",
		srv.URL + "/private":                      "the server answers 403 Forbidden",
		srv.URL + "/loop":                         "stopped after 10 redirects",
		srv.URL + "/cut":                          "unexpected EOF",
		closed.URL:                                "refused",
		srv.URL + "/away?to=ftp://127.0.0.1/x":    "redirect from http to ftp",
		srv.URL + "/away?to=file:///etc/passwd":   "redirect from http to file",
		srv.URL + "/away?to=https://127.0.0.1:1/": "dial tcp", // tried: what leaves http gets better
	} {
		says(t, fetchFails(t, t.Context(), newBlobs(t, ""), url), want)
	}
}

func TestNoRedirectLeavesHTTPS(t *testing.T) {
	hop := func(url string) *http.Request {
		return value[*http.Request](t)(http.NewRequest(http.MethodGet, url, nil))
	}
	for _, tt := range []struct {
		urls []string
		want string
	}{
		{[]string{"https://a/", "https://b/"}, ""},
		{[]string{"http://a/", "http://b/"}, ""},
		{[]string{"http://a/", "https://a/"}, ""},
		{[]string{"https://a/", "http://a/"}, "redirect from https to http"},
		{[]string{"http://a/", "https://a/", "http://a/"}, "redirect from https to http"},
		{[]string{"https://a/", "ftp://a/"}, "redirect from https to ftp"},
	} {
		var via []*http.Request
		for _, url := range tt.urls[:len(tt.urls)-1] {
			via = append(via, hop(url))
		}
		err := checkRedirect(hop(tt.urls[len(tt.urls)-1]), via)
		if got := fmt.Sprint(err); tt.want == "" && err != nil || tt.want != "" && got != tt.want {
			t.Errorf("%v: %v", tt.urls, err)
		}
	}
}

// A URL may carry credentials before the host, in the query and in a fragment.
func TestErrorsDoNotTellCredentials(t *testing.T) {
	n, srv := newNative(t), site(t)
	hidden := strings.NewReplacer("//", "//user:"+secret+"@").Replace
	for _, url := range []string{
		hidden(srv.URL) + "/none?token=" + secret,
		hidden(srv.URL) + "/private?token=wrong&x=" + secret,
		hidden(srv.URL) + "/none?#" + secret,
		hidden(srv.URL) + "/loop?token=" + secret,
		hidden("http://127.0.0.1:1") + "/?token=" + secret,
	} {
		err := n.fails(t, plant(t, nil), "FROM scratch\nADD "+url+" /\n")
		if text := err.Error(); strings.Contains(text, secret) || strings.Contains(text, "user") || strings.Contains(text, "token") {
			t.Errorf("told: %s", text)
		}
		says(t, err, "Dockerfile:2: fetch http://127.0.0.1:")
	}
	_, err := n.Blobs.fetch(t.Context(), &dockerfile.HTTP{URL: "http://user:" + secret + "@host:port/?" + secret})
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("told: %v", err)
	}
	for text, want := range map[string]string{
		"https://u:p@h:1/a/b?q#f": "https://h:1/a/b",
		"https://h/?":             "https://h/",
		"https://u:p@h:x/":        "the URL",
	} {
		if got := redacted(text); got != want {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// The file is gone when its layer is written: that error names the instruction,
// whose title has the URL, by its place.
func TestALateErrorDoesNotTellCredentialsEither(t *testing.T) {
	n, srv := newNative(t), site(t)
	url := strings.Replace(srv.URL, "//", "//user:"+secret+"@", 1) + "/private?token=" + secret
	r := n.request(t, plant(t, nil), "FROM scratch\nADD "+url+" /\n")
	x := newExecutor(n.Native, r)
	defer x.close()
	s := value[snapshot](t)(x.run(t.Context()))
	for _, name := range leftovers(t, n.Blobs) {
		must(t, os.Remove(filepath.Join(n.Blobs.dir, name)))
	}
	_, err := n.layers(t.Context(), s, r)
	if !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), secret) {
		t.Errorf("told: %v", err)
	}
	says(t, err, "Dockerfile:2: ")
}

func TestALongAnswerIsRefused(t *testing.T) {
	srv := site(t)
	b := newBlobs(t, "")
	b.maxRemote = int64(len("content")) - 1
	says(t, fetchFails(t, t.Context(), b, srv.URL+"/file"), "longer than 6 bytes")
	b.maxRemote++
	got := value[*fetched](t)(b.fetch(t.Context(), &dockerfile.HTTP{URL: srv.URL + "/file"}))
	if got.size != 7 {
		t.Errorf("%d bytes", got.size)
	}
}

func TestFetchingEndsWithItsContext(t *testing.T) {
	stopped := errors.New("stopped")
	for _, body := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(t.Context())
		hang := make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body {
				io.WriteString(w, "the beginning")
				w.(http.Flusher).Flush()
			}
			cancel(stopped)
			select {
			case <-r.Context().Done():
			case <-hang:
			}
		}))
		err := fetchFails(t, ctx, newBlobs(t, ""), srv.URL)
		if !errors.Is(err, context.Canceled) && !errors.Is(err, stopped) {
			t.Errorf("body %v: error %v", body, err)
		}
		close(hang)
		srv.Close()
	}
}

func TestTheNameOfARemoteFile(t *testing.T) {
	for _, tt := range []struct{ url, asked, want string }{
		{"https://h/a/b.tgz?x=y", "", "b.tgz"},
		{"https://h/a/b.tgz", "c", "c"},
		{"https://h/a/", "", "a"},
		{"https://h/", "", "download"},
		{"https://h", "", "download"},
	} {
		if got := remoteName(&dockerfile.HTTP{URL: tt.url, Filename: tt.asked}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.url, got, tt.want)
		}
	}
}

// What was fetched is a blob like any other.
func TestRemoteFilesEndWithTheBlobs(t *testing.T) {
	n, srv := newNative(t), site(t)
	img := n.build(t, plant(t, nil), "FROM scratch\nADD "+srv.URL+"/file /\n")
	must(t, n.Blobs.Close())
	if _, err := os.Stat(n.Blobs.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat: %v", err)
	}
	if _, err := layersOf(t, img)[0].Compressed(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
