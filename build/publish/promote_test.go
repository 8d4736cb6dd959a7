package publish

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/registry"
)

// joined is an image whose index is published under tags.
func joined(t *testing.T, r registry.Repository, platforms string, tags ...string) registry.Manifest {
	t.Helper()
	if _, err := Manifest(t.Context(), []Join{pushed(t, r, platforms, tags...)}, Options{}); err != nil {
		t.Fatal(err)
	}
	return manifest(t, r, tags[0])
}

func manifest(t *testing.T, r registry.Repository, ref string) registry.Manifest {
	t.Helper()
	m, err := r.Manifest(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPromoteMovesTagsToTheSameBytes(t *testing.T) {
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		a, b := repo("a"), repo("b")
		index := joined(t, a, "linux/amd64,linux/arm64", "v1.0.0")
		put(t, b, "v1.0.0", spec{platform: "linux/s390x"})
		list := []Promotion{
			{Image: "a", Repo: a, Source: "v1.0.0", Tags: []string{"latest", "v1"}},
			{Image: "b", Repo: b, Source: "v1.0.0", Tags: []string{"latest"}},
		}
		got, err := Promote(t.Context(), list, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range []string{"latest", "v1"} {
			if m := manifest(t, a, tag); !bytes.Equal(m.Raw, index.Raw) || m.MediaType != index.MediaType {
				t.Errorf("%s is %s", tag, m.Raw)
			}
		}
		if one, want := manifest(t, b, "latest"), manifest(t, b, "v1.0.0"); one.Digest != want.Digest || !one.MediaType.IsImage() {
			t.Errorf("a single manifest became %s %s", one.MediaType, one.Digest)
		}
		want := []string{a.Name() + ":latest@" + index.Digest.String(), a.Name() + ":v1@" + index.Digest.String(), b.Name() + ":latest@" + manifest(t, b, "v1.0.0").Digest.String()}
		for i, w := range got {
			if w.String() != want[i] || !w.Moved {
				t.Errorf("%+v, want %s", w, want[i])
			}
		}
		if !slices.Equal(got[0].Platforms, []string{"linux/amd64", "linux/arm64"}) || !slices.Equal(got[2].Platforms, []string{"linux/s390x"}) {
			t.Errorf("platforms %q and %q", got[0].Platforms, got[2].Platforms)
		}
		again, err := Promote(t.Context(), list, Options{})
		if err != nil || slices.ContainsFunc(again, func(w Written) bool { return w.Moved }) || len(again) != 3 {
			t.Errorf("again: %+v, %v", again, err)
		}
	})
}

func TestPromoteThatChangesNothingWritesNothing(t *testing.T) {
	s := serve(t)
	joined(t, s.repo(t, "app"), "linux/amd64", "v1.0.0", "latest")
	s.writes()
	p := Promotion{Image: "app", Repo: s.repo(t, "app"), Source: "v1.0.0", Tags: []string{"latest"}}
	if _, err := Promote(t.Context(), []Promotion{p}, Options{}); err != nil || len(s.writes()) != 0 {
		t.Error(err)
	}
}

func TestAllMissingSourcesAreListedAndNoTagMoves(t *testing.T) {
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		a, b, c := repo("a"), repo("b"), repo("c")
		joined(t, a, "linux/amd64", "v1.0.0")
		joined(t, c, "linux/amd64", "v0.9.0")
		var list []Promotion
		for _, r := range []registry.Repository{a, b, c} {
			list = append(list, Promotion{Image: "x", Repo: r, Source: "v1.0.0", Tags: []string{"latest"}})
		}
		_, err := Promote(t.Context(), list, Options{Force: true})
		var missing *MissingError
		if want := []string{b.Name() + ":v1.0.0", c.Name() + ":v1.0.0"}; !errors.As(err, &missing) || !slices.Equal(missing.Refs, want) || !strings.HasPrefix(err.Error(), "promote: missing 2 images: ") {
			t.Errorf("%v, want %q", err, want)
		}
		if got := tags(t, a); !slices.Equal(got, []string{"v1.0.0"}) {
			t.Errorf("moved %q", got)
		}
	})
}

func TestPromoteRefusesWhatIsNotWhole(t *testing.T) {
	for _, part := range []string{"child", "config", "layer", "attestation", "revision", "unknown"} {
		t.Run(part, func(t *testing.T) {
			s := serve(t)
			r := s.repo(t, "app")
			images, att := attested(t, r, "v1.0.0", spec{platform: "linux/amd64"}, spec{platform: "linux/arm64"})
			fine := s.repo(t, "fine")
			joined(t, fine, "linux/amd64", "v1.0.0")
			img, err := r.Image(t.Context(), images[1].Digest.String())
			if err != nil {
				t.Fatal(err)
			}
			m, _ := img.Manifest()
			lost := map[string]v1.Hash{"layer": m.Layers[0].Digest, "config": m.Config.Digest, "child": images[1].Digest, "attestation": att.Digest, "unknown": images[1].Digest}[part]
			o, says, code := Options{}, "app:v1.0.0: it is incomplete", 404
			switch part {
			case "revision":
				o.Revision, says = "def", "is abc, not def"
			case "unknown":
				says, code = images[1].Digest.String(), 500
			}
			s.writes()
			s.answering(lost.String(), code)
			list := []Promotion{
				{Image: "fine", Repo: s.repo(t, "fine"), Source: "v1.0.0", Tags: []string{"latest"}},
				{Image: "app", Repo: s.repo(t, "app"), Source: "v1.0.0", Tags: []string{"latest"}},
			}
			if part == "revision" {
				s.failing(nil)
			}
			_, err = Promote(t.Context(), list, o)
			var missing *MissingError
			if err == nil || !strings.Contains(err.Error(), says) || errors.As(err, &missing) || errors.Is(err, registry.ErrAbsent) || len(s.writes()) != 0 {
				t.Error(err)
			}
		})
	}
}

func TestPromoteKeepsPlatforms(t *testing.T) {
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		r := repo("app")
		joined(t, r, "linux/amd64,linux/arm64", "v1.0.0", "stable")
		put(t, r, "v1.0.1", spec{platform: "linux/amd64", content: "new"})
		p := Promotion{Image: "app", Repo: r, Source: "v1.0.1", Tags: []string{"stable"}}
		_, err := Promote(t.Context(), []Promotion{p}, Options{})
		if err == nil || !strings.Contains(err.Error(), "app:stable: it names 2 platforms, the new index has 1") {
			t.Error(err)
		}
		if _, err := Promote(t.Context(), []Promotion{p}, Options{Force: true}); err != nil {
			t.Error(err)
		}
	})
}

func TestPromoteThatFailsBetweenTagsCanBeFinished(t *testing.T) {
	s := serve(t)
	a, b := s.repo(t, "a"), s.repo(t, "b")
	joined(t, a, "linux/amd64", "v1.0.0")
	joined(t, b, "linux/amd64", "v1.0.0")
	list := []Promotion{
		{Image: "a", Repo: a, Source: "v1.0.0", Tags: []string{"v1", "latest"}},
		{Image: "b", Repo: b, Source: "v1.0.0", Tags: []string{"v1", "latest"}},
	}
	s.failing(func(r *http.Request) int {
		if r.Method == "PUT" && strings.HasSuffix(r.URL.Path, "/b/manifests/v1") {
			return 500
		}
		return 0
	})
	_, err := Promote(t.Context(), list, Options{})
	var partly *PartialError
	if !errors.As(err, &partly) || !slices.Equal(partly.Moved, []string{a.Name() + ":v1"}) ||
		!slices.Equal(partly.NotMoved, []string{a.Name() + ":latest", b.Name() + ":v1", b.Name() + ":latest"}) {
		t.Fatal(err)
	}
	s.failing(nil)
	got, err := Promote(t.Context(), list, Options{})
	if err != nil || got[0].Moved || !got[1].Moved || !got[2].Moved || !got[3].Moved {
		t.Errorf("finishing: %+v, %v", got, err)
	}
}

func TestPromoteCopiesFromAnotherRepository(t *testing.T) {
	for _, same := range []bool{true, false} {
		s, other := serve(t), serve(t)
		if same {
			other = s
		}
		from, to := other.repo(t, "staging/app"), s.repo(t, "org/app")
		images, att := attested(t, from, "v1.0.0", spec{platform: "linux/amd64"}, spec{platform: "linux/arm64"})
		source := manifest(t, from, "v1.0.0")
		mounts := 0
		s.failing(func(r *http.Request) int {
			if r.URL.Query().Get("mount") != "" {
				mounts++
			}
			if r.Method == "HEAD" && strings.HasPrefix(r.URL.Path, "/v2/org/app/blobs/") {
				return 404 // the registry in process has one store for all repositories
			}
			return 0
		})
		s.writes()
		p := Promotion{Image: "app", Repo: to, From: from, Source: "v1.0.0", Tags: []string{"v1.0.0", "latest"}}
		got, err := Promote(t.Context(), []Promotion{p}, Options{})
		if err != nil || len(got) != 2 || !got[0].Moved {
			t.Fatalf("%+v, %v", got, err)
		}
		if (mounts > 0) != same {
			t.Errorf("same registry %v: %d mounts", same, mounts)
		}
		s.failing(nil)
		wrote := s.writes()
		if n := len(wrote); !slices.Equal(wrote[n-2:], []string{"org/app:v1.0.0", "org/app:latest"}) || wrote[n-3] != "org/app:"+source.Digest.String() {
			t.Errorf("wrote %q", wrote)
		}
		fresh := s.repo(t, "org/app")
		if m := manifest(t, fresh, "latest"); !bytes.Equal(m.Raw, source.Raw) {
			t.Errorf("%s", m.Raw)
		}
		for _, d := range append(images, att) {
			img, err := fresh.Image(t.Context(), d.Digest.String())
			if err != nil {
				t.Fatal(err)
			}
			if err := hasLayers(t.Context(), fresh, img, "x"); err != nil {
				t.Error(err)
			}
			if _, err := img.RawConfigFile(); err != nil {
				t.Error(err)
			}
		}
		s.writes()
		if again, err := Promote(t.Context(), []Promotion{p}, Options{}); err != nil || again[0].Moved || len(s.writes()) != 0 {
			t.Errorf("again: %+v, %v", again, err)
		}
	}
}

func TestAForeignAttestationIsNoImage(t *testing.T) {
	s := serve(t)
	d := put(t, s.repo(t, "app"), "tmp", spec{platform: "linux/amd64"})
	d.Annotations = map[string]string{referenceType: attestation, referenceDigest: "sha256:" + strings.Repeat("0", 64)}
	putIndex(t, s.repo(t, "app"), "v1.0.0", v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{d}})
	p := Promotion{Image: "app", Repo: s.repo(t, "app"), Source: "v1.0.0", Tags: []string{"latest"}}
	if _, err := Promote(t.Context(), []Promotion{p}, Options{}); err == nil || !strings.Contains(err.Error(), "an index without images") {
		t.Error(err)
	}
}

func TestAnIndexInAnIndexIsNotPromoted(t *testing.T) {
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		r := repo("app")
		inner := joined(t, r, "linux/amd64", "v0.1.0").Descriptor()
		inner.Platform = &v1.Platform{OS: "linux", Architecture: "amd64"}
		putIndex(t, r, "v1.0.0", v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{inner}})
		p := Promotion{Image: "app", Repo: r, Source: "v1.0.0", Tags: []string{"stable"}}
		if _, err := Promote(t.Context(), []Promotion{p}, Options{}); err == nil || !strings.Contains(err.Error(), "is an index again") {
			t.Error(err)
		}
		p.Source, p.Tags = "v0.1.0", []string{"v1.0.0"} // it can be replaced
		if _, err := Promote(t.Context(), []Promotion{p}, Options{Force: true}); err != nil {
			t.Error(err)
		}
	})
}

func TestManifestCopiesLegsFromAnotherRepository(t *testing.T) {
	s := serve(t)
	from, to := s.repo(t, "staging/app"), s.repo(t, "org/app")
	images, att := attested(t, from, "dev-arm64", spec{platform: "linux/arm64"})
	put(t, from, "dev-amd64", spec{platform: "linux/amd64"})
	j := join(t, to, "linux/amd64,linux/arm64", "v1.0.0")
	j.From = from
	if _, err := Manifest(t.Context(), []Join{j}, Options{}); err != nil {
		t.Fatal(err)
	}
	fresh := s.repo(t, "org/app")
	index := names(t, fresh, "v1.0.0")
	if len(index.Manifests) != 3 || index.Manifests[1].Digest != images[0].Digest || index.Manifests[2].Digest != att.Digest {
		t.Errorf("%+v", index.Manifests)
	}
	for _, d := range index.Manifests {
		if _, err := fresh.Head(t.Context(), d.Digest.String()); err != nil {
			t.Error(err)
		}
	}
	if got := tags(t, fresh); !slices.Equal(got, []string{"v1.0.0"}) {
		t.Errorf("tags %q", got)
	}
	j.Legs[0].Tag = "other-amd64"
	var missing *MissingError
	if _, err := Manifest(t.Context(), []Join{j}, Options{}); !errors.As(err, &missing) || !slices.Equal(missing.Refs, []string{from.Name() + ":other-amd64"}) {
		t.Error(err)
	}
}

func TestALegThatIsNotOfItsReceiptIsRefused(t *testing.T) {
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		r := repo("app")
		j := pushed(t, r, "linux/amd64,linux/arm64", "dev")
		d, err := r.Head(t.Context(), "dev-amd64")
		if err != nil {
			t.Fatal(err)
		}
		j.Legs[0].Digest = d.Digest.String()
		if _, err := Manifest(t.Context(), []Join{j}, Options{}); err != nil {
			t.Fatal(err)
		}
		put(t, r, "dev-amd64", spec{platform: "linux/amd64", content: "another"})
		_, err = Manifest(t.Context(), []Join{j}, Options{})
		if err == nil || !strings.Contains(err.Error(), "app:dev-amd64: it names sha256:") || !strings.Contains(err.Error(), "receipt is for "+d.Digest.String()) {
			t.Error(err)
		}
		if _, err := Manifest(t.Context(), []Join{j}, Options{Force: true}); err != nil {
			t.Error(err)
		}
	})
}
