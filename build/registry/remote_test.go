package registry

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func TestWhatIsPushedIsReadBack(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{Jobs: 4})
	r := open(t, c, s.host+"/org/app", Write)
	img := testImage(t, "linux/arm64", "one", "two", strings.Repeat("x", inMemory+1))
	d, err := r.PutImage(t.Context(), "v1", img)
	if err != nil {
		t.Fatal(err)
	}
	if d.Digest.String() != digest(t, img) {
		t.Errorf("pushed %s, want %s", d.Digest, digest(t, img))
	}
	head, err := r.Head(t.Context(), "v1")
	if err != nil || head.Digest != d.Digest || head.Size != d.Size || head.MediaType != d.MediaType {
		t.Errorf("Head = %+v, %v; want %+v", head, err, d)
	}
	back, err := r.Image(t.Context(), d.Digest.String())
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, back)
	for i, want := range []string{"one", "two", strings.Repeat("x", inMemory+1)} {
		if got := layerBytes(t, back, i); got != want {
			t.Errorf("layer %d is %d bytes, want %d", i, len(got), len(want))
		}
	}
	if tags, err := r.Tags(t.Context()); err != nil || !slices.Equal(tags, []string{"v1"}) {
		t.Errorf("Tags = %q, %v", tags, err)
	}
	layers, _ := img.Layers()
	if err := r.HasBlob(t.Context(), digest(t, layers[0])); err != nil {
		t.Error(err)
	}
	if err := r.HasBlob(t.Context(), "sha256:"+strings.Repeat("0", 64)); !errors.Is(err, ErrAbsent) {
		t.Errorf("a blob that is not there: %v", err)
	}
}

func TestAnswersAreThree(t *testing.T) {
	for _, tt := range []struct {
		code           int
		body           string
		absent, denied bool
	}{
		{404, problem("MANIFEST_UNKNOWN"), true, false},
		{404, problem("NAME_UNKNOWN"), true, false},
		{404, "", true, false},
		{404, "<html>gone</html>", true, false},
		{400, problem("NAME_UNKNOWN"), true, false},
		{401, problem("UNAUTHORIZED"), false, true},
		{403, problem("DENIED"), false, true},
		{403, "You have exceeded a secondary rate limit", false, false},
		{403, problem("TOOMANYREQUESTS"), false, false},
		{400, "", false, false},
		{429, "", false, false},
		{500, problem("NAME_UNKNOWN"), false, false},
		{503, "", false, false},
	} {
		t.Run(fmt.Sprint(tt.code, tt.body), func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
				return strings.Contains(r.URL.Path, "/manifests/") && refuse(w, tt.code, tt.body)
			})
			c, _ := testClient(t, Options{})
			r := open(t, c, s.host+"/app", Read)
			_, headErr := r.Head(t.Context(), "v1")
			_, getErr := r.Manifest(t.Context(), "v1")
			for _, err := range []error{headErr, getErr} {
				if err == nil {
					t.Fatal("no error")
				}
				if err == headErr && tt.code == 400 {
					continue // a HEAD has no body to say more
				}
				if errors.Is(err, ErrAbsent) != tt.absent || errors.Is(err, ErrDenied) != tt.denied {
					t.Errorf("absent %t, denied %t: %v", errors.Is(err, ErrAbsent), errors.Is(err, ErrDenied), err)
				}
			}
		})
	}
}

func TestA404OfThePingOrTheTokenServerIsNotAbsence(t *testing.T) {
	for _, where := range []string{"/v2/", "/token"} {
		s := serve(t)
		*s = *serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
			if r.URL.Path == where {
				return refuse(w, 404, problem("NAME_UNKNOWN"))
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="x"`)
			return refuse(w, 401, "")
		})
		c, _ := testClient(t, Options{})
		_, err := open(t, c, s.host+"/app", Read).Head(t.Context(), "v1")
		if err == nil || errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v", where, err)
		}
	}
}

func TestHeadAsksWithGetWhereHeadersAreMissing(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		return r.Method == "HEAD" && strings.Contains(r.URL.Path, "/manifests/") && refuse(w, 200, "")
	})
	c, _ := testClient(t, Options{})
	r := open(t, c, s.host+"/app", Write)
	img := testImage(t, "linux/amd64", "one")
	d, err := r.PutImage(t.Context(), "v1", img)
	if err != nil || d.Digest.String() != digest(t, img) {
		t.Errorf("%v, %v", d, err)
	}
}

func TestARegistryThatHidesAbsentRepositoriesSaysSoToWhoMayPush(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.URL.Path == "/token" {
			fmt.Fprintf(w, `{"token":%q}`, r.URL.Query().Get("scope"))
			return true
		}
		auth := r.Header.Get("Authorization")
		switch {
		case auth == "":
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="x"`)
			return refuse(w, 401, problem("UNAUTHORIZED"))
		case r.URL.Path != "/v2/" && !strings.Contains(auth, "push"):
			return refuse(w, 403, problem("DENIED"))
		}
		return false
	})
	c, _ := testClient(t, Options{})
	if _, err := open(t, c, s.host+"/app", Write).Head(t.Context(), "v1"); !errors.Is(err, ErrAbsent) {
		t.Errorf("opened to write: %v", err)
	}
	if _, err := open(t, c, s.host+"/app", Read).Head(t.Context(), "v1"); !errors.Is(err, ErrDenied) {
		t.Errorf("opened to read: %v", err)
	}
}

func TestPushSkipsWhatIsThere(t *testing.T) {
	s := serve(t)
	img := testImage(t, "linux/amd64", "shared", "own")
	for range 2 {
		c, _ := testClient(t, Options{})
		if _, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", img); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.count("POST "); n != 3 {
		t.Errorf("%d uploads of 2 layers and a config", n)
	}
}

// mounting is a registry whose blobs belong to repositories, unlike those of
// go-containerregistry's.
func mounting(mounted *[]string, answer int) fault {
	return func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.Method == "HEAD" && strings.HasPrefix(r.URL.Path, "/v2/app/blobs/") {
			return refuse(w, 404, "")
		}
		if from := r.URL.Query().Get("from"); r.Method == "POST" && from != "" {
			*mounted = append(*mounted, from+" "+r.URL.Query().Get("mount"))
			if answer != 0 {
				return refuse(w, answer, "")
			}
		}
		return false
	}
}

// renamed is a layer under another media type, as an image of another family
// than its base has it.
type renamed struct{ v1.Layer }

func (r renamed) MediaType() (types.MediaType, error) { return types.DockerLayer, nil }
func (r renamed) Unwrap() v1.Layer                    { return r.Layer }

func TestABaseLayerOfAnotherFamilyIsMountedToo(t *testing.T) {
	var mounted []string
	s := serve(t, mounting(&mounted, 201))
	c, _ := testClient(t, Options{})
	if _, err := open(t, c, s.host+"/library/base", Write).PutImage(t.Context(), "1", testImage(t, "linux/amd64", "base")); err != nil {
		t.Fatal(err)
	}
	resolved, err := c.Resolve(t.Context(), s.host+"/library/base:1", amd64)
	if err != nil {
		t.Fatal(err)
	}
	from, err := resolved.Image(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, c, s.host+"/app", Write).(*remote)
	if got := r.mountSource(renamed{mustLayers(t, from)[0]}); got != "library/base" {
		t.Errorf("got %q", got)
	}
}

func TestBaseLayersOfTheSameRegistryAreMountedNotMoved(t *testing.T) {
	var mounted []string
	s := serve(t, mounting(&mounted, 201))
	c, _ := testClient(t, Options{})
	base := testImage(t, "linux/amd64", "base")
	if _, err := open(t, c, s.host+"/library/base", Write).PutImage(t.Context(), "1", base); err != nil {
		t.Fatal(err)
	}
	layers, _ := base.Layers()
	resolved, err := c.Resolve(t.Context(), s.host+"/library/base:1", amd64)
	if err != nil {
		t.Fatal(err)
	}
	from, err := resolved.Image(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(from, mustLayers(t, testImage(t, "linux/amd64", "own"))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", img); err != nil {
		t.Fatal(err)
	}
	if want := []string{"library/base " + digest(t, layers[0])}; !slices.Equal(mounted, want) {
		t.Errorf("mounted %q, want %q", mounted, want)
	}
	if n := s.count("GET /v2/library/base/blobs/" + digest(t, layers[0])); n != 0 {
		t.Errorf("the base layer was downloaded %d times", n)
	}
}

func TestARefusedMountIsUploaded(t *testing.T) {
	for _, answer := range []int{0, 400, 403, 500} { // 0: 202, an upload begins
		var mounted []string
		s := serve(t, mounting(&mounted, answer))
		c, _ := testClient(t, Options{RetryMax: 1})
		base := testImage(t, "linux/amd64", "base")
		if _, err := open(t, c, s.host+"/base", Write).PutImage(t.Context(), "1", base); err != nil {
			t.Fatal(err)
		}
		back, err := open(t, c, s.host+"/base", Read).Image(t.Context(), digest(t, base))
		if err != nil {
			t.Fatal(err)
		}
		_, err = open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", back)
		if (err == nil) != (answer != 500) || len(mounted) == 0 {
			t.Errorf("answer %d: %v after %q", answer, err, mounted)
		}
	}
}

func mustLayers(t *testing.T, img v1.Image) []v1.Layer {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	return layers
}

func TestTagsFollowsPagesOfTheSameHostAlone(t *testing.T) {
	for _, tt := range []struct {
		link string
		want []string
		ok   bool
	}{
		{`</v2/app/tags/list?last=b>; rel="next"`, []string{"a", "b", "c"}, true},
		{`<http://elsewhere.test/>; rel="next"`, nil, false},
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
			if !strings.HasSuffix(r.URL.Path, "/tags/list") {
				return false
			}
			if r.URL.Query().Get("last") == "" {
				w.Header().Set("Link", tt.link)
				io.WriteString(w, `{"tags":["b","a"]}`)
			} else {
				io.WriteString(w, `{"tags":["c"]}`)
			}
			return true
		})
		c, _ := testClient(t, Options{})
		got, err := open(t, c, s.host+"/app", Read).Tags(t.Context())
		if !slices.Equal(got, tt.want) || (err == nil) != tt.ok {
			t.Errorf("%s: %q, %v", tt.link, got, err)
		}
	}
}

func TestPutManifestChecksItsDigest(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	for _, r := range []Repository{open(t, c, s.host+"/app", Write), OpenLayout(t.TempDir(), "dist/app")} {
		m, err := manifestOf(testImage(t, "linux/amd64"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.PutManifest(t.Context(), "sha256:"+strings.Repeat("0", 64), m); err == nil {
			t.Error("another digest was accepted")
		}
		if err := r.PutManifest(t.Context(), "not/a/tag", m); err == nil {
			t.Error("another tag was accepted")
		}
		m.Raw = append(m.Raw, ' ')
		if err := r.PutManifest(t.Context(), "v1", m); err == nil {
			t.Error("other bytes were accepted")
		}
	}
}
