package registry

import (
	"errors"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/platform"
)

var amd64 = platform.Platform{OS: "linux", Arch: "amd64"}

func parsed(t *testing.T, text string) platform.Platform {
	t.Helper()
	p, err := platform.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pushIndex puts one image per platform, "" being an entry without one, whose
// config is of linux/s390x.
func pushIndex(t *testing.T, c *Client, repo, tag string, order ...string) (index string, images map[string]v1.Image) {
	t.Helper()
	r := open(t, c, repo, Write)
	images = map[string]v1.Image{}
	for _, p := range order {
		config := p
		if p == "" {
			config = "linux/s390x"
		}
		images[p] = testImage(t, config, "layer of "+p)
		if _, err := r.PutImage(t.Context(), "leg", images[p]); err != nil {
			t.Fatal(err)
		}
	}
	return putIndex(t, r, tag, testIndex(t, images, order...)), images
}

func TestResolveChoosesAsBuildKitDoes(t *testing.T) {
	for _, tt := range []struct {
		have []string
		want string
		take string // "-" for none
	}{
		{[]string{"linux/amd64", "linux/arm64"}, "linux/arm64", "linux/arm64"},
		{[]string{"linux/arm64", "linux/amd64"}, "linux/amd64", "linux/amd64"},
		{[]string{"linux/arm/v6", "linux/386"}, "linux/arm64", "linux/arm/v6"},
		{[]string{"linux/arm/v6", "linux/386"}, "linux/amd64", "linux/386"},
		{[]string{"linux/386", "linux/amd64"}, "linux/amd64", "linux/amd64"},
		{[]string{"linux/arm/v5", "linux/arm/v7", "linux/arm/v6"}, "linux/arm/v7", "linux/arm/v7"},
		{[]string{"linux/arm/v7", "linux/arm/v5"}, "linux/arm/v6", "linux/arm/v5"},
		{[]string{"linux/arm/v7"}, "linux/arm/v6", "-"},
		{[]string{"linux/amd64/v3", "linux/amd64"}, "linux/amd64/v2", "linux/amd64"},
		{[]string{"windows/amd64"}, "linux/amd64", "-"},
		{[]string{"linux/amd64", ""}, "linux/s390x", ""},
		{[]string{"linux/amd64", ""}, "linux/ppc64le", "-"},
		{[]string{"", "linux/s390x"}, "linux/s390x", "linux/s390x"},
		{[]string{"unknown/unknown", "linux/amd64"}, "linux/arm64", "-"},
	} {
		s := serve(t)
		c, _ := testClient(t, Options{})
		index, images := pushIndex(t, c, s.host+"/base", "1", tt.have...)
		b, err := c.Resolve(t.Context(), s.host+"/base:1", parsed(t, tt.want))
		var none *NoPlatformError
		if tt.take == "-" {
			if !errors.As(err, &none) || slices.Contains(none.Have, "unknown/unknown") || none.Ref != s.host+"/base:1" {
				t.Errorf("%q for %s: %v", tt.have, tt.want, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q for %s: %v", tt.have, tt.want, err)
			continue
		}
		if b.Digest != index || b.Manifest != digest(t, images[tt.take]) {
			t.Errorf("%q for %s: took %s of %s", tt.have, tt.want, b.Manifest, b.Digest)
		}
		if want := parsed(t, strings.Replace(tt.take, "unknown", "", 1)+map[bool]string{true: "linux/s390x"}[tt.take == ""]); b.Platform != want {
			t.Errorf("%q for %s: says it is %s, want %s", tt.have, tt.want, b.Platform, want)
		}
	}
}

func TestASingleManifestServesEveryPlatformAndSaysItsOwn(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	img := testImage(t, "linux/arm/v7", "one")
	if _, err := open(t, c, s.host+"/base", Write).PutImage(t.Context(), "1", img); err != nil {
		t.Fatal(err)
	}
	config, _ := img.RawConfigFile()
	for _, ref := range []string{s.host + "/base:1", s.host + "/base@" + digest(t, img), s.host + "/base:1@" + digest(t, img)} {
		b, err := c.Resolve(t.Context(), ref, amd64)
		if err != nil {
			t.Fatal(err)
		}
		if b.Platform != parsed(t, "linux/arm/v7") || b.Digest != digest(t, img) || b.Manifest != b.Digest || string(b.Config) != string(config) {
			t.Errorf("%s: %+v", ref, b)
		}
		back, err := b.Image(t.Context())
		if err != nil || layerBytes(t, back, 0) != "one" {
			t.Errorf("%s: %v", ref, err)
		}
		if id, err := mustLayers(t, back)[0].DiffID(); err != nil || id.String() != digest(t, mustLayers(t, img)[0]) {
			t.Errorf("%s: diff ID %s, %v", ref, id, err)
		}
	}
}

func TestABaseIsAskedForOncePerRun(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	pushIndex(t, c, s.host+"/base", "1", "linux/amd64", "linux/arm64")
	s.mu.Lock()
	s.seen = nil
	s.mu.Unlock()
	done := make(chan error)
	for i := range 12 {
		go func() {
			_, err := c.Resolve(t.Context(), s.host+"/base:1", parsed(t, []string{"linux/amd64", "linux/arm64"}[i%2]))
			done <- err
		}()
	}
	for range 12 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if tag, all := s.count("GET /v2/base/manifests/1"), s.count("GET /v2/base/"); tag != 1 || all != 5 {
		t.Errorf("the tag was read %d times, %d requests in all", tag, all)
	}
}

func TestMirrors(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{Mirrors: []Mirror{
		{"docker.io", s.host + "/hub"}, {"gcr.io", s.host + "/gcr/"}, {"gcr.io/special/", s.host + "/special"},
	}})
	for from, at := range map[string]string{
		"ubuntu:24.04": "hub/library/ubuntu:24.04", "docker.io/org/app:1": "hub/org/app:1", "index.docker.io/library/x:1": "hub/library/x:1",
		"gcr.io/distroless/static:1": "gcr/distroless/static:1", "gcr.io/special/x:1": "special/x:1", "gcr.io/specialist/x:1": "gcr/specialist/x:1",
	} {
		repo, tag, _ := strings.Cut(at, ":")
		if _, err := open(t, c, s.host+"/"+repo, Write).PutImage(t.Context(), tag, testImage(t, "linux/amd64", at)); err != nil {
			t.Fatal(err)
		}
		b, err := c.Resolve(t.Context(), from, amd64)
		if err != nil {
			t.Errorf("%s: %v", from, err)
			continue
		}
		back, err := b.Image(t.Context())
		if err != nil || layerBytes(t, back, 0) != at {
			t.Errorf("%s: %v", from, err)
		}
	}
	b, _ := c.Resolve(t.Context(), "ubuntu:24.04", amd64)
	if b.Ref != "docker.io/library/ubuntu:24.04" {
		t.Errorf("Ref is %s", b.Ref)
	}
	_, err := c.Resolve(t.Context(), "gcr.io/none:1", amd64)
	if want := "resolve gcr.io/none:1 (from " + s.host + "/gcr/none:1): absent: "; err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, ErrAbsent) {
		t.Errorf("error %v, want %s…", err, want)
	}
}

func TestAMalformedBaseIsSaidToBeOne(t *testing.T) {
	c, _ := testClient(t, Options{Transport: &recorder{}})
	for _, ref := range []string{"", "UPPER:1", "user:secret@host/x", "a b"} {
		if _, err := c.Resolve(t.Context(), ref, amd64); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", ref, err)
		}
	}
}
