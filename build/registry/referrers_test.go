package registry

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const subject = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func listOf(t *testing.T, r Repository) []string {
	t.Helper()
	list, err := r.Referrers(t.Context(), subject)
	if err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, d := range list {
		digests = append(digests, d.Digest.Hex[:1])
	}
	return digests
}

func TestReferrersOfTheAPIAreReadPageByPage(t *testing.T) {
	page := func(w http.ResponseWriter, digit string) {
		w.Header().Set("Content-Type", string(types.OCIImageIndex)+"; charset=utf-8")
		fmt.Fprintf(w, `{"schemaVersion":2,"manifests":[{"mediaType":%q,"size":2,"digest":"sha256:%s"}]}`, types.OCIManifestSchema1, strings.Repeat(digit, 64))
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.HasSuffix(r.URL.Path, "/v2/app/referrers/"+subject) {
			return false
		}
		if r.URL.RawQuery == "" {
			w.Header().Set("Link", `</v2/app/referrers/`+subject+`?last=1>; rel="next"`)
			page(w, "1")
		} else {
			page(w, "2")
		}
		return true
	})
	c, _ := testClient(t, Options{})
	r := open(t, c, s.host+"/app", Write)
	if got := listOf(t, r); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%q", got)
	}
	if err := r.AddReferrers(t.Context(), subject, []v1.Descriptor{{Digest: digestOf([]byte("x"))}}); err != nil || s.count("PUT") != 0 {
		t.Errorf("the API keeps the list, and yet %v, %d writes", err, s.count("PUT"))
	}
}

func TestWithoutTheAPIReferrersAreUnderATag(t *testing.T) {
	website := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"404": http.NotFound, "a website": website,
		"405": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(405) },
		"400": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) },
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if !strings.Contains(r.URL.Path, "/referrers/") {
				return false
			}
			answer(w, r)
			return true
		})
		c, _ := testClient(t, Options{})
		keepsList(t, name, open(t, c, s.host+"/app", Write), func() Repository {
			c, _ := testClient(t, Options{})
			return open(t, c, s.host+"/app", Read)
		})
	}
	dir := filepath.Join(t.TempDir(), "app")
	keepsList(t, "layout", OpenLayout(dir, "app"), func() Repository { return OpenLayout(dir, "app") })
}

// keepsList adds one referrer after the other, and one twice.
func keepsList(t *testing.T, name string, r Repository, again func() Repository) {
	t.Helper()
	if got := listOf(t, r); got != nil {
		t.Errorf("%s: nothing lists %q", name, got)
	}
	var want []string
	for i, content := range []string{"a", "b", "a"} {
		img := testImage(t, "linux/amd64", content)
		h, _ := img.Digest()
		d, err := r.PutImage(t.Context(), h.String(), img)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := r.AddReferrers(t.Context(), subject, []v1.Descriptor{d}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if i < 2 {
			want = append(want, d.Digest.Hex[:1])
		}
	}
	if got := listOf(t, again()); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
}

func TestWhatTheAPIDoesNotSayIsUnknown(t *testing.T) {
	for _, code := range []int{401, 403, 500} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
			return strings.Contains(r.URL.Path, "/referrers/") && refuse(w, code, problem("UNKNOWN"))
		})
		c, _ := testClient(t, Options{})
		r := open(t, c, s.host+"/app", Write)
		_, err := r.Referrers(t.Context(), subject)
		if err == nil || errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "list referrers of "+s.host+"/app@"+subject) {
			t.Errorf("%d: %v", code, err)
		}
		if err := r.AddReferrers(t.Context(), subject, nil); err == nil || s.count("PUT") != 0 {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestAnImageIsPutByItsDigest(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	for _, r := range []Repository{open(t, c, s.host+"/app", Write), OpenLayout(t.TempDir(), "app")} {
		img := testImage(t, "linux/amd64", "a")
		h, _ := img.Digest()
		if _, err := r.PutImage(t.Context(), subject, img); err == nil {
			t.Error("it went under another digest")
		}
		if _, err := r.PutImage(t.Context(), h.String(), img); err != nil {
			t.Error(err)
		}
		if _, err := r.Image(t.Context(), h.String()); err != nil {
			t.Error(err)
		}
		if tags, _ := r.Tags(t.Context()); len(tags) != 0 {
			for _, tag := range tags { // the registry in process lists digests as tags
				if !strings.HasPrefix(tag, "sha256:") {
					t.Errorf("tags %q", tags)
				}
			}
		}
	}
}
