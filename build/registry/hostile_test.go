package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// elsewhere is a host that takes everything, and notes what secrets it is sent.
func elsewhere(t *testing.T) (host string, leaked *[]string) {
	t.Helper()
	leaked = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*leaked = append(*leaked, r.Header.Get("Authorization")+r.Header.Get("Cookie")+string(body))
		io.WriteString(w, `{"token":"stolen"}`)
	}))
	t.Cleanup(s.Close)
	// As a name: go-containerregistry refuses foreign addresses by itself.
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1), leaked
}

// A token server may be on another host (distribution's token authentication
// has it so), but a redirect takes no login anywhere.
func TestALoginDoesNotFollowARedirect(t *testing.T) {
	away, leaked := elsewhere(t)
	identity := t.TempDir()
	for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		to := func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, away+r.URL.Path, code)
			return true
		}
		s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
			if r.URL.Path == "/token" {
				return to(w, r)
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="x"`)
			return refuse(w, 401, "")
		})
		config := fmt.Sprintf(`{"auths":{%q:{"identitytoken":"s3cret"}}}`, s.host)
		if err := os.WriteFile(filepath.Join(identity, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, auth := range map[string]Auth{
			"a password":        {DockerConfig: dockerConfig(t, map[string]string{s.host: "me:s3cret"})},
			"an identity token": {DockerConfig: identity},
		} {
			c, _ := testClient(t, Options{Auth: auth})
			_, err := open(t, c, s.host+"/app", Read).Manifest(t.Context(), "v1")
			if err == nil || errors.Is(err, ErrAbsent) {
				t.Errorf("%d, %s: %v", code, name, err)
			}
		}
	}
	if got := strings.Join(*leaked, ""); got != "" {
		t.Errorf("the other host was sent %q", got)
	}
}

// Where a redirected ping asks to log in is not where the login is for.
func TestAPingThatIsRedirectedGetsNoLogin(t *testing.T) {
	away, leaked := elsewhere(t)
	asks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+away+`/token",service="x"`)
		w.WriteHeader(401)
	}))
	t.Cleanup(asks.Close)
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.URL.Path == "/v2/" {
			http.Redirect(w, r, asks.URL+"/v2/", http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	c, clock := testClient(t, Options{RetryMax: 3, Auth: Auth{DockerConfig: dockerConfig(t, map[string]string{s.host: "me:s3cret"})}})
	_, err := open(t, c, s.host+"/app", Read).Manifest(t.Context(), "v1")
	if !errors.Is(err, errElsewhere) || len(clock.pauses()) != 0 || len(*leaked) != 0 {
		t.Errorf("%v after %v; the other host was sent %q", err, clock.pauses(), *leaked)
	}
	c, _ = testClient(t, Options{})
	if _, err := open(t, c, s.host+"/app", Read).Manifest(t.Context(), "v1"); errors.Is(err, errElsewhere) {
		t.Errorf("without a login: %v", err)
	}
}

// The login of one port is not for another, nor that of a host for one whose
// name it is the beginning of.
func TestALoginIsForOneHost(t *testing.T) {
	var sent []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		sent = append(sent, r.Header.Get("Authorization"))
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		return refuse(w, 401, "")
	})
	name, port, _ := strings.Cut(s.host, ":")
	auths := map[string]string{
		name: "me:1", name + ":1": "me:2", name + ":" + port + "0": "me:3", name + ":" + port[:len(port)-1]: "me:4",
		"localhost:" + port: "me:5", s.host + "/other": "me:6", s.host + ".example.com": "me:7",
	}
	c, _ := testClient(t, Options{Auth: Auth{DockerConfig: dockerConfig(t, auths), GitHubToken: "gh"}})
	_, err := open(t, c, s.host+"/app", Write).Manifest(t.Context(), "v1")
	if !errors.Is(err, ErrDenied) || strings.Join(sent, "") != "" {
		t.Errorf("%v; sent %q", err, sent)
	}
}

func TestRedirectsEnd(t *testing.T) {
	n := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path == "/v2/" {
			return false
		}
		n++
		http.Redirect(w, r, fmt.Sprintf("%s?n=%d", r.URL.Path, n), http.StatusTemporaryRedirect)
		return true
	})
	c, _ := testClient(t, Options{RetryMax: 3})
	_, err := open(t, c, s.host+"/app", Read).Manifest(t.Context(), "v1")
	if err == nil || errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "stopped after 10 redirects") || n > 20 {
		t.Errorf("%v after %d requests", err, n)
	}
}

// bulk answers with a head, then with as much of a text as is taken.
func bulk(w http.ResponseWriter, head, text string) {
	io.WriteString(w, head)
	for range 1 << 30 / len(text) {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// allocated is how much memory run asks for in all, in bytes: more than it ever
// has in use.
func allocated(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Documents without end are given up on, once what any could need has come.
func TestHugeDocumentsAreRefused(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, path string){
		"a manifest": func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", string(types.OCIImageIndex))
			bulk(w, `{"schemaVersion":2,"manifests":[],"x":"`, strings.Repeat("x", 1<<16))
		},
		"a manifest of one long line of brackets": func(w http.ResponseWriter, _ string) {
			bulk(w, "", strings.Repeat("[", 1<<16))
		},
		"a manifest that lies about its length": func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Length", "1073741824")
			io.WriteString(w, "{}")
		},
		"an index of 100,000 entries": func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", string(types.OCIImageIndex))
			entry := `{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":2,"digest":"sha256:` + strings.Repeat("0", 64) + `"},`
			io.WriteString(w, `{"schemaVersion":2,"manifests":[`+strings.TrimSuffix(strings.Repeat(entry, 100_000), ",")+`]}`)
		},
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
			if strings.Contains(r.URL.Path, "/manifests/") {
				answer(w, r.URL.Path)
			}
			return strings.Contains(r.URL.Path, "/manifests/")
		})
		c, _ := testClient(t, Options{RetryMax: 1})
		r := open(t, c, s.host+"/app", Read)
		var err error
		used := allocated(func() { _, err = r.Manifest(t.Context(), "v1") })
		if err == nil || errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v", name, err)
		}
		if used > 256<<20 {
			t.Errorf("%s: %d MB were allocated for it", name, used>>20)
		}
	}
}

// A config is read as far as its manifest says, and no config of a sane image is
// as large as 16 MB.
func TestHugeConfigsAreRefused(t *testing.T) {
	for name, size := range map[string]int64{"what it says": 100 << 20, "more than it says": 100, "nothing": -1, "exabytes": 1<<63 - 1} {
		manifest, _ := json.Marshal(v1.Manifest{
			SchemaVersion: 2, MediaType: types.OCIManifestSchema1,
			Config: v1.Descriptor{MediaType: types.OCIConfigJSON, Size: size, Digest: v1.Hash{Algorithm: "sha256", Hex: strings.Repeat("0", 64)}},
		})
		s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
			switch {
			case strings.Contains(r.URL.Path, "/manifests/"):
				w.Header().Set("Content-Type", string(types.OCIManifestSchema1))
				_, _ = w.Write(manifest)
				return true
			case strings.Contains(r.URL.Path, "/blobs/"):
				bulk(w, `{"x":"`, strings.Repeat("x", 1<<16))
				return true
			}
			return false
		})
		c, _ := testClient(t, Options{RetryMax: 1})
		r := open(t, c, s.host+"/app", Read)
		used := allocated(func() {
			img, err := r.Image(t.Context(), digestOf(manifest).String())
			if err == nil {
				_, err = img.RawConfigFile()
			}
			if err == nil || errors.Is(err, ErrAbsent) {
				t.Errorf("%s: %v", name, err)
			}
		})
		if used > 256<<20 {
			t.Errorf("%s: %d MB were allocated for it", name, used>>20)
		}
	}
}

func TestAnIndexThatListsItselfIsDamage(t *testing.T) {
	raw := `{"schemaVersion":2,"manifests":[{"mediaType":"` + string(types.OCIImageIndex) + `","size":2,"digest":"sha256:` + strings.Repeat("a", 64) + `","platform":{"os":"linux","architecture":"amd64"}}]}`
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		if strings.Contains(r.URL.Path, "/manifests/") {
			w.Header().Set("Content-Type", string(types.OCIImageIndex))
			io.WriteString(w, raw)
		}
		return strings.Contains(r.URL.Path, "/manifests/")
	})
	c, _ := testClient(t, Options{})
	_, err := c.Resolve(t.Context(), s.host+"/app:v1", parsed(t, "linux/amd64"))
	var none *NoPlatformError
	if !errors.As(err, &none) {
		t.Errorf("as a base: %v", err)
	}
	_, err = open(t, c, s.host+"/app", Read).Manifest(t.Context(), "sha256:"+strings.Repeat("a", 64))
	if err == nil || !strings.Contains(err.Error(), "digest mismatch") {
		t.Errorf("its child: %v", err)
	}
}

func TestListsOfTagsAndReferrersEnd(t *testing.T) {
	var many strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&many, `,"t%d"`, i)
	}
	entry := `{"mediaType":"x","size":2,"digest":"sha256:` + strings.Repeat("0", 64) + `"},`
	pages := 0
	for name, answer := range map[string]string{
		"tags":               `{"tags":[` + many.String()[1:] + `]}`,
		"tags, none a page":  `{"tags":[]}`,
		"referrers":          `{"schemaVersion":2,"manifests":[` + strings.TrimSuffix(strings.Repeat(entry, 4000), ",") + `]}`,
		"referrers, no page": `{"schemaVersion":2,"manifests":[]}`,
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
			if r.URL.Path == "/v2/" {
				return false
			}
			pages++
			w.Header().Set("Content-Type", string(types.OCIImageIndex))
			w.Header().Set("Link", fmt.Sprintf(`<%s?p=%d>; rel="next"`, r.URL.Path, pages))
			io.WriteString(w, answer)
			return true
		})
		c, _ := testClient(t, Options{})
		r := open(t, c, s.host+"/app", Read)
		var err error
		if strings.HasPrefix(name, "tags") {
			_, err = r.Tags(t.Context())
		} else {
			_, err = r.Referrers(t.Context(), "sha256:"+strings.Repeat("0", 64))
		}
		if err == nil || !strings.Contains(err.Error(), "does not end") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if pages > 2*1002+10 {
		t.Errorf("%d pages were asked for", pages)
	}
}
