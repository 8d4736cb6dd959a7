package registry

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
)

func TestAnOfferIsWhatAReferenceNames(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	index, _ := pushIndex(t, c, s.host+"/base", "1", "linux/arm", "unknown/unknown", "linux/amd64", "windows/amd64", "", "linux/amd64")
	got, err := c.Offer(t.Context(), s.host+"/base:1")
	want := []platform.Platform{
		{OS: "linux", Arch: "arm", Variant: "v7"}, amd64, {OS: "windows", Arch: "amd64"}, {OS: "linux", Arch: "s390x"},
	}
	if err != nil || !got.Index || got.Digest != index || !slices.Equal(got.Platforms, want) {
		t.Errorf("got %+v, %v", got, err)
	}

	img := testImage(t, "linux/arm64/v8", "one")
	if _, err := open(t, c, s.host+"/single", Write).PutImage(t.Context(), "1", img); err != nil {
		t.Fatal(err)
	}
	got, err = c.Offer(t.Context(), s.host+"/single@"+digest(t, img))
	if err != nil || got.Index || got.Digest != digest(t, img) || !slices.Equal(got.Platforms, []platform.Platform{{OS: "linux", Arch: "arm64"}}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAnOfferAndItsBasesAreOneQuestion(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	pushIndex(t, c, s.host+"/base", "1", "linux/amd64")
	if _, err := c.Offer(t.Context(), s.host+"/base:1"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Resolve(t.Context(), s.host+"/base:1", amd64); err != nil {
		t.Fatal(err)
	}
	if n := len(s.matching("GET /v2/base/manifests/1")); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestAnOfferThatIsAbsentSaysSo(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	if _, err := c.Offer(t.Context(), s.host+"/none:1"); !errors.Is(err, ErrAbsent) {
		t.Errorf("got %v", err)
	}
	down := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) bool { w.WriteHeader(500); return true })
	if _, err := c.Offer(t.Context(), down.host+"/base:1"); err == nil || errors.Is(err, ErrAbsent) || errors.Is(err, ErrDenied) {
		t.Errorf("got %v", err)
	}
}
