package publish

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/registry"
)

func TestInspectTellsWhatIsThere(t *testing.T) {
	r := serve(t).repo(t, "app")
	put(t, r, "dev-amd64", spec{platform: "linux/amd64", version: "v1.0.0", created: monday, annotations: map[string]string{"a": "b"}})
	images, att := attested(t, r, "dev-armv7", spec{platform: "linux/arm/v7", version: "v1.0.0", created: tuesday})
	if _, err := Manifest(t.Context(), []Join{join(t, r, "linux/amd64,linux/arm/v7", "v1.0.0")}, Options{}); err != nil {
		t.Fatal(err)
	}
	got, err := Inspect(t.Context(), r, "v1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(t, r, "v1.0.0")
	if got.Version != 1 || got.Digest != m.Digest.String() || got.MediaType != string(m.MediaType) || got.Name != r.Name() || got.Ref != "v1.0.0" {
		t.Errorf("%+v", got)
	}
	if got.Revision != "abc" || got.Created != "" || got.String() != r.Name()+":v1.0.0@"+m.Digest.String() {
		t.Errorf("revision %q, created %q, %s", got.Revision, got.Created, got)
	}
	arm := got.Images[1]
	if len(got.Images) != 2 || arm.Platform != "linux/arm/v7" || arm.Digest != images[0].Digest.String() || arm.Version != "v1.0.0" || arm.Created != tuesday || arm.Revision != "abc" || arm.Absent {
		t.Errorf("%+v", got.Images)
	}
	leg, _ := r.Image(t.Context(), got.Images[0].Digest)
	lm, err := leg.Manifest()
	if err != nil || got.Images[0].Size != lm.Config.Size+lm.Layers[0].Size || got.Images[0].Annotations["a"] != "b" {
		t.Errorf("%+v, %v", got.Images[0], err)
	}
	if want := []Attestation{{att.Digest.String(), string(att.MediaType), images[0].Digest.String()}}; !slices.Equal(got.Attestations, want) {
		t.Errorf("%+v", got.Attestations)
	}
	byDigest, err := Inspect(t.Context(), r, m.Digest.String())
	if err != nil || byDigest.String() != r.Name()+"@"+m.Digest.String() || len(byDigest.Images) != 2 {
		t.Errorf("%+v, %v", byDigest, err)
	}
	one, err := Inspect(t.Context(), r, "dev-amd64")
	if err != nil || len(one.Images) != 1 || one.Images[0].Platform != "linux/amd64" || one.Annotations["a"] != "b" || one.Created != monday {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := Inspect(t.Context(), r, "none"); !errors.Is(err, registry.ErrAbsent) {
		t.Error(err)
	}
}

func TestInspectTakesAnyPlatform(t *testing.T) {
	r := serve(t).repo(t, "app")
	d := put(t, r, "tmp", spec{platform: "linux/amd64"})
	var list []v1.Descriptor
	for _, p := range []*v1.Platform{{OS: "windows", Architecture: "amd64", OSVersion: "10.0.1"}, {OS: "wasip1", Architecture: "wasm"}, nil} {
		d.Platform = p
		list = append(list, d)
	}
	putIndex(t, r, "v1", v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: list})
	got, err := Inspect(t.Context(), r, "v1")
	if err != nil || len(got.Images) != 3 || got.Revision != "abc" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOneRevisionIsWhatAllImagesCarry(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b string
		says string
	}{
		"equal":   {"abc", "abc", ""},
		"differ":  {"abc", "def", "no one revision: linux/amd64 abc, linux/arm64 def"},
		"one":     {"abc", "-", "linux/arm64 none"},
		"neither": {"-", "-", "no one revision"},
	} {
		r := serve(t).repo(t, "app")
		index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
		for i, revision := range []string{tt.a, tt.b} {
			p := []string{"amd64", "arm64"}[i]
			d := put(t, r, "tmp", spec{platform: "linux/" + p, revision: revision})
			d.Platform = &v1.Platform{OS: "linux", Architecture: p}
			index.Manifests = append(index.Manifests, d)
		}
		putIndex(t, r, "v1", index)
		report, err := Inspect(t.Context(), r, "v1")
		if err != nil {
			t.Fatal(err)
		}
		got, err := report.OneRevision()
		if tt.says == "" && (err != nil || got != "abc") || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says) || got != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestAChildThatIsGoneIsToldAndNoRevisionGiven(t *testing.T) {
	for _, part := range []string{"manifest", "config"} {
		s := serve(t)
		joined(t, s.repo(t, "app"), "linux/amd64,linux/arm64", "v1.0.0")
		child := names(t, s.repo(t, "app"), "v1.0.0").Manifests[1]
		lost := child.Digest
		if part == "config" {
			img, _ := s.repo(t, "app").Image(t.Context(), lost.String())
			m, _ := img.Manifest()
			lost = m.Config.Digest
		}
		s.answering(lost.String(), 404)
		got, err := Inspect(t.Context(), s.repo(t, "app"), "v1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		if !got.Images[1].Absent || got.Images[1].Platform != "linux/arm64" || got.Images[0].Absent {
			t.Errorf("%s: %+v", part, got.Images)
		}
		if _, err := got.OneRevision(); err == nil || !strings.Contains(err.Error(), "not there: linux/arm64 "+child.Digest.String()) {
			t.Errorf("%s: %v", part, err)
		}
		s.answering(lost.String(), 500)
		if _, err := Inspect(t.Context(), s.repo(t, "app"), "v1.0.0"); err == nil || errors.Is(err, registry.ErrAbsent) {
			t.Errorf("%s: unknown is %v", part, err)
		}
	}
}

func TestAReportIsJSON(t *testing.T) {
	raw, err := json.Marshal(Report{Version: 1, Name: "n", Ref: "v1", Digest: "sha256:1", MediaType: "m", Images: []Image{{Platform: "linux/amd64", Digest: "sha256:2", MediaType: "i", Size: 3}}})
	if want := `{"version":1,"name":"n","ref":"v1","digest":"sha256:1","mediaType":"m","images":[{"platform":"linux/amd64","digest":"sha256:2","mediaType":"i","size":3}]}`; err != nil || string(raw) != want {
		t.Errorf("%s, %v", raw, err)
	}
}
