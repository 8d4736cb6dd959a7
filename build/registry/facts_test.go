package registry

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/cache"
)

// resolved is a base as a new client with a store resolves it, and what it asked
// the registry for.
func resolved(t *testing.T, s *testServer, facts cache.Store, id string) (Base, []string) {
	t.Helper()
	s.mu.Lock()
	s.seen = nil
	s.mu.Unlock()
	c, _ := testClient(t, Options{Facts: facts})
	b, err := c.Resolve(t.Context(), s.host+"/base"+id, amd64)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return b, s.seen
}

func TestABaseThatIsRememberedCostsOneQuestionOfItsTagAndNoneOfItsDigest(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	index, images := pushIndex(t, c, s.host+"/base", "1", "linux/amd64", "linux/arm64")
	facts := cache.Store{Dir: filepath.Join(t.TempDir(), "facts")}
	first, _ := resolved(t, s, facts, ":1")
	again, asked := resolved(t, s, facts, ":1")
	if want := []string{"GET /v2/", "HEAD /v2/base/manifests/1"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	pinned, asked := resolved(t, s, facts, "@"+index)
	if len(asked) != 0 {
		t.Errorf("asked %q for a digest", asked)
	}
	for _, b := range []Base{first, again, pinned} {
		if b.Manifest != digest(t, images["linux/amd64"]) || b.Digest != index || !slices.Equal(b.Config, first.Config) || b.manifest.MediaType != types.OCIManifestSchema1 {
			t.Errorf("%+v", b)
		}
	}
	img, err := again.Image(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, img)
	if n := s.count("GET /v2/base/blobs/" + digestOf(first.Config).String()); n != 0 {
		t.Errorf("the config was read %d times more", n)
	}
}

func TestATagThatMovedIsReadAgain(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	r := open(t, c, s.host+"/base", Write)
	facts := cache.Store{Dir: t.TempDir()}
	for _, content := range []string{"one", "two", "one"} {
		img := testImage(t, "linux/amd64", content)
		if _, err := r.PutImage(t.Context(), "1", img); err != nil {
			t.Fatal(err)
		}
		if b, _ := resolved(t, s, facts, ":1"); b.Digest != digest(t, img) {
			t.Errorf("%s: resolved to %s", content, b.Digest)
		}
	}
}

func TestARegistryWhoseHeadSaysNothingIsAskedWithGet(t *testing.T) {
	img := testImage(t, "linux/amd64", "one")
	for name, wrong := range map[string]func(http.ResponseWriter, *http.Request){
		"no digest": status(200, ""),
		"denied":    status(403, ""),
		"absent":    status(404, ""),
		"a lie":     status(200, "", "Docker-Content-Digest", "sha256:"+strings.Repeat("0", 64)),
	} {
		s := seeded(t, img, first(9, "HEAD /v2/app/manifests/v1", wrong))
		facts := cache.Store{Dir: t.TempDir()}
		for range 2 {
			c, _ := testClient(t, Options{Facts: facts})
			if b, err := c.Resolve(t.Context(), s.host+"/app:v1", amd64); err != nil || b.Digest != digest(t, img) {
				t.Errorf("%s: %s, %v", name, b.Digest, err)
			}
		}
		if n := s.count("HEAD "); n != 1 {
			t.Errorf("%s: %d HEADs, want one, of the second run", name, n)
		}
	}
}

// What the store says is checked against the digest it was asked for, even where
// the store takes it for whole.
func TestWhatIsRememberedIsCheckedAgainstItsDigest(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	index, _ := pushIndex(t, c, s.host+"/base", "1", "linux/amd64")
	facts := cache.Store{Dir: t.TempDir()}
	want, _ := resolved(t, s, facts, ":1")
	name := s.host + "/base"
	m, err := v1.ParseManifest(strings.NewReader(string(want.manifest.Raw)))
	if err != nil {
		t.Fatal(err)
	}
	for _, poison := range []string{"", "\n", string(types.OCIManifestSchema1) + "\n{}", `{"architecture":"s390x"}`} {
		facts.Put("manifest "+name+"@"+index, []byte(poison))
		facts.Put("manifest "+name+"@"+want.Manifest, []byte(poison))
		facts.Put("config "+name+"@"+m.Config.Digest.String(), []byte(poison))
		got, asked := resolved(t, s, facts, ":1")
		if got.Manifest != want.Manifest || string(got.Config) != string(want.Config) || len(asked) < 4 {
			t.Errorf("%q: %+v after %q", poison, got, asked)
		}
	}
}

func TestNothingIsRememberedWithoutAStore(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	pushIndex(t, c, s.host+"/base", "1", "linux/amd64")
	for range 2 {
		_, asked := resolved(t, s, cache.Store{}, ":1")
		if len(asked) != 4 || !slices.Contains(asked, "GET /v2/base/manifests/1") {
			t.Errorf("asked %q", asked)
		}
	}
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, asked := resolved(t, s, cache.Store{Dir: dir}, ":1"); len(asked) != 4 {
		t.Errorf("asked %q with a store that cannot be written", asked)
	}
}
