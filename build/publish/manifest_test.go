package publish

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/registry"
)

func TestManifestJoinsTheLegs(t *testing.T) {
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		r := repo("app")
		j := pushed(t, r, "linux/arm64,linux/amd64,linux/arm/v7", "v1.0.0", "latest")
		got, err := Manifest(t.Context(), []Join{j}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		index := names(t, r, "v1.0.0")
		var have []string
		for i, d := range index.Manifests {
			have = append(have, d.Platform.String())
			leg, err := r.Head(t.Context(), j.Legs[i].Tag)
			if err != nil || leg.Digest != d.Digest || leg.Size != d.Size || leg.MediaType != d.MediaType {
				t.Errorf("entry %+v, leg %+v, %v", d, leg, err)
			}
		}
		if want := []string{"linux/arm64", "linux/amd64", "linux/arm/v7"}; !slices.Equal(have, want) || index.MediaType != types.OCIImageIndex {
			t.Errorf("%s of %q, want %q", index.MediaType, have, want)
		}
		d, err := r.Head(t.Context(), "latest")
		if err != nil {
			t.Fatal(err)
		}
		for i, tag := range []string{"v1.0.0", "latest"} {
			if want := r.Name() + ":" + tag + "@" + d.Digest.String(); got[i].String() != want || !got[i].Moved || len(got[i].Platforms) != 3 {
				t.Errorf("%+v, want %s", got[i], want)
			}
		}
		again, err := Manifest(t.Context(), []Join{j}, Options{})
		if err != nil || again[0].Moved || again[1].Moved || again[0].Digest != got[0].Digest {
			t.Errorf("again: %+v, %v", again, err)
		}
	})
}

func TestEqualLegsGiveEqualBytes(t *testing.T) {
	annotated := func(p string, extra string) spec {
		return spec{platform: p, annotations: map[string]string{"b": "same", "a": "same", "c": extra, "only-" + p: "x"}}
	}
	var raw [][]byte
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		for _, tag := range []string{"v1.0.0", "other"} {
			r := repo("app-" + strings.ReplaceAll(tag, ".", "-"))
			put(t, r, "dev-amd64", annotated("linux/amd64", "1"))
			put(t, r, "dev-arm64", annotated("linux/arm64", "2"))
			if _, err := Manifest(t.Context(), []Join{join(t, r, "linux/amd64,linux/arm64", tag)}, Options{}); err != nil {
				t.Fatal(err)
			}
			m, err := r.Manifest(t.Context(), tag)
			if err != nil {
				t.Fatal(err)
			}
			raw = append(raw, m.Raw)
		}
	})
	for _, b := range raw[1:] {
		if !bytes.Equal(b, raw[0]) {
			t.Errorf("%s\n%s", raw[0], b)
		}
	}
	if want := `"annotations":{"a":"same","b":"same"}`; !strings.Contains(string(raw[0]), want) {
		t.Errorf("%s has not %s", raw[0], want)
	}
}

func TestALegWithAttestationsIsOpened(t *testing.T) {
	r := serve(t).repo(t, "app")
	put(t, r, "dev-amd64", spec{platform: "linux/amd64"})
	images, att := attested(t, r, "dev-arm64", spec{platform: "linux/arm64"}, spec{platform: "linux/s390x"})
	if _, err := Manifest(t.Context(), []Join{join(t, r, "linux/arm64,linux/amd64", "dev")}, Options{}); err != nil {
		t.Fatal(err)
	}
	index := names(t, r, "dev")
	if len(index.Manifests) != 3 || index.Manifests[0].Digest != images[0].Digest || index.Manifests[1].Platform.Architecture != "amd64" {
		t.Fatalf("%+v", index.Manifests)
	}
	got := index.Manifests[2]
	if got.Digest != att.Digest || got.Annotations["vnd.docker.reference.digest"] != images[0].Digest.String() || got.Platform.OS != "unknown" {
		t.Errorf("%+v", got)
	}
}

func TestDockerLegsMakeADockerList(t *testing.T) {
	r := serve(t).repo(t, "app")
	for _, p := range []string{"amd64", "arm64"} {
		put(t, r, "dev-"+p, spec{platform: "linux/" + p, docker: true, annotations: map[string]string{"a": "b"}})
	}
	if _, err := Manifest(t.Context(), []Join{join(t, r, "linux/amd64,linux/arm64", "dev")}, Options{}); err != nil {
		t.Fatal(err)
	}
	index := names(t, r, "dev")
	if index.MediaType != types.DockerManifestList || index.Annotations != nil || index.Manifests[0].MediaType != types.DockerManifestSchema2 {
		t.Errorf("%+v", index)
	}
}

func TestRefusals(t *testing.T) {
	two := "linux/amd64,linux/arm64"
	for _, tt := range []struct {
		name  string
		setup func(t *testing.T, r registry.Repository) Join
		o     Options
		says  []string
	}{
		{"the wrong platform under a leg's tag", func(t *testing.T, r registry.Repository) Join {
			j := pushed(t, r, two, "v1.0.0")
			put(t, r, "dev-arm64", spec{platform: "linux/amd64"})
			return j
		}, Options{}, []string{"app:dev-arm64", "linux/amd64, not linux/arm64"}},
		{"the wrong variant", func(t *testing.T, r registry.Repository) Join {
			j := pushed(t, r, "linux/arm/v6", "v1.0.0")
			put(t, r, "dev-armv6", spec{platform: "linux/arm/v7"})
			return j
		}, Options{}, []string{"linux/arm/v7, not linux/arm/v6"}},
		{"an index without the platform", func(t *testing.T, r registry.Repository) Join {
			j := pushed(t, r, two, "v1.0.0")
			attested(t, r, "dev-arm64", spec{platform: "linux/s390x"})
			return j
		}, Options{}, []string{"0 images for linux/arm64", "linux/s390x"}},
		{"an index with two of the platform", func(t *testing.T, r registry.Repository) Join {
			j := pushed(t, r, two, "v1.0.0")
			attested(t, r, "dev-arm64", spec{platform: "linux/arm64"}, spec{platform: "linux/arm64", content: "x"})
			return j
		}, Options{}, []string{"2 images for linux/arm64"}},
		{"an index whose entry is another's", func(t *testing.T, r registry.Repository) Join {
			j := pushed(t, r, two, "v1.0.0")
			d := put(t, r, "tmp", spec{platform: "linux/amd64"})
			d.Platform = &v1.Platform{OS: "linux", Architecture: "arm64"}
			putIndex(t, r, "dev-arm64", v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{d}})
			return j
		}, Options{}, []string{"linux/amd64, not linux/arm64"}},
		{"revisions that differ", func(t *testing.T, r registry.Repository) Join {
			j := pushed(t, r, two, "v1.0.0")
			put(t, r, "dev-arm64", spec{platform: "linux/arm64", revision: "def"})
			return j
		}, Options{}, []string{"app:dev-arm64", "revision is def", "abc"}},
		{"a revision that is missing on one", func(t *testing.T, r registry.Repository) Join {
			j := pushed(t, r, two, "v1.0.0")
			put(t, r, "dev-arm64", spec{platform: "linux/arm64", revision: "-"})
			return j
		}, Options{}, []string{"revision is none"}},
		{"another revision than asked for", func(t *testing.T, r registry.Repository) Join {
			return pushed(t, r, two, "v1.0.0")
		}, Options{Revision: "def"}, []string{"app:dev-amd64: its revision is abc, not def", "app:dev-arm64: its revision is abc, not def"}},
		{"media types that are mixed", func(t *testing.T, r registry.Repository) Join {
			j := pushed(t, r, two, "v1.0.0")
			put(t, r, "dev-arm64", spec{platform: "linux/arm64", docker: true})
			return j
		}, Options{}, []string{"app:dev-arm64", "vnd.docker"}},
		{"what the caller's check finds", func(t *testing.T, r registry.Repository) Join {
			return pushed(t, r, two, "v1.0.0")
		}, Options{Check: func(_ context.Context, _ Join, leg Leg, img v1.Image) error {
			if _, err := img.Layers(); err != nil {
				return err
			}
			return errors.New("wrong binary in " + leg.Tag)
		}}, []string{"wrong binary in dev-amd64", "wrong binary in dev-arm64"}},
		{"fewer platforms than there are", func(t *testing.T, r registry.Repository) Join {
			if _, err := Manifest(t.Context(), []Join{pushed(t, r, two, "dev")}, Options{}); err != nil {
				t.Fatal(err)
			}
			return pushed(t, r, "linux/amd64", "dev")
		}, Options{}, []string{"move ", "app:dev: ", "2 platforms", "has 1"}},
		{"another index under a fixed version", func(t *testing.T, r registry.Repository) Join {
			if _, err := Manifest(t.Context(), []Join{pushed(t, r, two, "v1.0.0")}, Options{}); err != nil {
				t.Fatal(err)
			}
			put(t, r, "dev-amd64", spec{platform: "linux/amd64", content: "new"})
			return join(t, r, two, "v1.0.0")
		}, Options{}, []string{"app:v1.0.0: it names sha256:", "the new index is sha256:"}},
		{"a fixed version that grows and changes", func(t *testing.T, r registry.Repository) Join {
			if _, err := Manifest(t.Context(), []Join{pushed(t, r, "linux/amd64", "v1.0.0")}, Options{}); err != nil {
				t.Fatal(err)
			}
			pushed(t, r, two, "v1.0.0")
			put(t, r, "dev-amd64", spec{platform: "linux/amd64", content: "new"})
			return join(t, r, two, "v1.0.0")
		}, Options{}, []string{"app:v1.0.0: it names sha256:"}},
		{"a platform twice", func(t *testing.T, r registry.Repository) Join {
			j := pushed(t, r, two, "v1.0.0")
			j.Legs[1].Platform = j.Legs[0].Platform
			return j
		}, Options{}, []string{"linux/amd64 is there twice"}},
		{"a tag that is none", func(t *testing.T, r registry.Repository) Join { return pushed(t, r, two, "v1+x") }, Options{}, []string{"v1+x"}},
		{"a tag twice", func(t *testing.T, r registry.Repository) Join { return pushed(t, r, two, "v1", "v1") }, Options{}, []string{"twice"}},
		{"no tag", func(t *testing.T, r registry.Repository) Join { return pushed(t, r, two) }, Options{}, []string{"no tags"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t)
			fine := s.repo(t, "fine")
			good := pushed(t, fine, two, "v1.0.0")
			good.Image = "fine"
			j := tt.setup(t, s.repo(t, "app"))
			s.writes()
			_, err := Manifest(t.Context(), []Join{good, j}, tt.o)
			if err == nil {
				t.Fatal("it was not refused")
			}
			for _, text := range tt.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%v\ndoes not say %q", err, text)
				}
			}
			var missing *MissingError
			if errors.As(err, &missing) || errors.Is(err, registry.ErrAbsent) {
				t.Errorf("it says something is missing: %v", err)
			}
			if wrote := s.writes(); len(wrote) != 0 {
				t.Errorf("wrote %q", wrote)
			}
		})
	}
}

func TestWhatForceAndGrowthAllow(t *testing.T) {
	two := "linux/amd64,linux/arm64"
	for name, setup := range map[string]func(t *testing.T, r registry.Repository) (Join, Options){
		"fewer platforms, forced": func(t *testing.T, r registry.Repository) (Join, Options) {
			return pushed(t, r, "linux/amd64", "v1.0.0"), Options{Force: true}
		},
		"a fixed version, forced": func(t *testing.T, r registry.Repository) (Join, Options) {
			put(t, r, "dev-amd64", spec{platform: "linux/amd64", content: "new"})
			return join(t, r, two, "v1.0.0"), Options{Force: true}
		},
		"a fixed version that grows": func(t *testing.T, r registry.Repository) (Join, Options) {
			return pushed(t, r, two+",linux/s390x", "v1.0.0"), Options{}
		},
		"a moving tag": func(t *testing.T, r registry.Repository) (Join, Options) {
			put(t, r, "dev-amd64", spec{platform: "linux/amd64", content: "new"})
			return join(t, r, two, "dev"), Options{}
		},
	} {
		both(t, func(t *testing.T, repo func(string) registry.Repository) {
			r := repo("app")
			if _, err := Manifest(t.Context(), []Join{pushed(t, r, two, "v1.0.0", "dev")}, Options{}); err != nil {
				t.Fatal(err)
			}
			j, o := setup(t, r)
			got, err := Manifest(t.Context(), []Join{j}, o)
			if err != nil || !got[0].Moved {
				t.Errorf("%s: %+v, %v", name, got, err)
				return
			}
			if n := len(names(t, r, j.Tags[0]).Manifests); n != len(j.Legs) {
				t.Errorf("%s: %d entries", name, n)
			}
		})
	}
}

func TestAllMissingLegsAreListedAndNoTagMoves(t *testing.T) {
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		a, b, c := repo("a"), repo("b"), repo("c")
		joins := []Join{
			pushed(t, a, "linux/amd64,linux/arm64", "v1.0.0"),
			join(t, b, "linux/amd64,linux/arm64", "v1.0.0"),
			join(t, c, "linux/amd64,linux/arm64", "v1.0.0"),
		}
		put(t, c, "dev-amd64", spec{platform: "linux/amd64"})
		_, err := Manifest(t.Context(), joins, Options{})
		var missing *MissingError
		want := []string{b.Name() + ":dev-amd64", b.Name() + ":dev-arm64", c.Name() + ":dev-arm64"}
		if !errors.As(err, &missing) || !slices.Equal(missing.Refs, want) {
			t.Errorf("%v, want %q", err, want)
		}
		if got := tags(t, a); len(got) != 0 {
			t.Errorf("moved %q", got)
		}
	})
}

func TestWhatIsUnknownIsNotMissing(t *testing.T) {
	for _, code := range []int{401, 403, 500, 503} {
		s := serve(t)
		joins := []Join{pushed(t, s.repo(t, "a"), "linux/amd64", "v1.0.0"), join(t, s.repo(t, "b"), "linux/amd64", "v1.0.0")}
		s.writes()
		s.failing(func(r *http.Request) int {
			if strings.HasPrefix(r.URL.Path, "/v2/a/") {
				return code
			}
			return 0
		})
		_, err := Manifest(t.Context(), joins, Options{})
		var missing *MissingError
		if err == nil || errors.As(err, &missing) || !strings.Contains(err.Error(), "/b:dev-amd64") || len(s.writes()) != 0 {
			t.Errorf("%d: %v", code, err)
		}
		if said := console.Text(err); !strings.Contains(said, "hint: build them first") {
			t.Errorf("%d: it does not say what to do: %s", code, said)
		}
	}
}

func TestALegWithoutAllItsPartsIsRefused(t *testing.T) {
	for _, part := range []string{"layer", "config", "child", "attestation"} {
		s := serve(t)
		r := s.repo(t, "app")
		images, att := attested(t, r, "dev-amd64", spec{platform: "linux/amd64"})
		img, err := r.Image(t.Context(), images[0].Digest.String())
		if err != nil {
			t.Fatal(err)
		}
		m, _ := img.Manifest()
		gone := map[string]v1.Hash{"layer": m.Layers[0].Digest, "config": m.Config.Digest, "child": images[0].Digest, "attestation": att.Digest}[part]
		s.writes()
		s.failing(func(r *http.Request) int {
			if strings.HasSuffix(r.URL.Path, gone.String()) {
				return 404
			}
			return 0
		})
		_, err = Manifest(t.Context(), []Join{join(t, s.repo(t, "app"), "linux/amd64", "dev")}, Options{})
		if err == nil || errors.Is(err, registry.ErrAbsent) || !strings.Contains(err.Error(), "app:dev-amd64: it is incomplete") || len(s.writes()) != 0 {
			t.Errorf("%s: %v", part, err)
		}
	}
}

func TestTheFirstTagOfAllImagesComesBeforeTheSecondOfAny(t *testing.T) {
	s := serve(t)
	joins := []Join{
		pushed(t, s.repo(t, "a"), "linux/amd64", "v1.0.0", "latest"),
		pushed(t, s.repo(t, "b"), "linux/amd64", "v1.0.0", "latest", "edge"),
	}
	s.writes()
	if _, err := Manifest(t.Context(), joins, Options{}); err != nil {
		t.Fatal(err)
	}
	wrote := s.writes()
	rounds := [][]string{{"a:sha256", "b:sha256"}, {"a:v1.0.0", "b:v1.0.0"}, {"a:latest", "b:latest"}, {"b:edge"}}
	for _, want := range rounds {
		got := slices.Clone(wrote[:len(want)])
		for i := range got {
			if name, _, ok := strings.Cut(got[i], ":sha256"); ok {
				got[i] = name + ":sha256"
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("wrote %q, want %q", got, want)
		}
		wrote = wrote[len(want):]
	}
	if len(wrote) != 0 {
		t.Errorf("wrote %q too", wrote)
	}
}

func TestAFailureBetweenTagsSaysWhatMovedAndCanBeFinished(t *testing.T) {
	s := serve(t)
	a, b := s.repo(t, "a"), s.repo(t, "b")
	joins := []Join{
		pushed(t, a, "linux/amd64", "v1.0.0", "latest"),
		pushed(t, b, "linux/amd64", "v1.0.0", "latest"),
	}
	s.failing(func(r *http.Request) int {
		if r.Method == "PUT" && strings.HasSuffix(r.URL.Path, "/b/manifests/v1.0.0") {
			return 403
		}
		return 0
	})
	_, err := Manifest(t.Context(), joins, Options{})
	var partly *PartialError
	if !errors.As(err, &partly) || !errors.Is(err, registry.ErrDenied) {
		t.Fatal(err)
	}
	if want := []string{a.Name() + ":v1.0.0"}; !slices.Equal(partly.Moved, want) {
		t.Errorf("moved %q, want %q", partly.Moved, want)
	}
	if want := []string{a.Name() + ":latest", b.Name() + ":v1.0.0", b.Name() + ":latest"}; !slices.Equal(partly.NotMoved, want) {
		t.Errorf("not moved %q, want %q", partly.NotMoved, want)
	}
	s.failing(nil)
	got, err := Manifest(t.Context(), joins, Options{})
	if err != nil || got[0].Moved || !got[1].Moved || !got[2].Moved {
		t.Errorf("finishing: %+v, %v", got, err)
	}
}

func TestAFailureBeforeTheFirstTagMovesNone(t *testing.T) {
	s := serve(t)
	joins := []Join{pushed(t, s.repo(t, "a"), "linux/amd64", "v1.0.0"), pushed(t, s.repo(t, "b"), "linux/amd64", "v1.0.0")}
	s.failing(func(r *http.Request) int {
		if r.Method == "PUT" && strings.HasPrefix(r.URL.Path, "/v2/b/manifests/sha256:") {
			return 500
		}
		return 0
	})
	_, err := Manifest(t.Context(), joins, Options{})
	var partly *PartialError
	if err == nil || errors.As(err, &partly) {
		t.Error(err)
	}
	s.failing(nil)
	if got := append(tags(t, joins[0].Repo), tags(t, joins[1].Repo)...); len(got) != 0 {
		t.Errorf("moved %q", got)
	}
}

func TestATagThatReadsBackDifferentlyIsAnError(t *testing.T) {
	s := serve(t)
	r := &forgetful{Repository: s.repo(t, "a")}
	j := pushed(t, r.Repository, "linux/amd64", "v1.0.0")
	j.Repo = r
	if _, err := Manifest(t.Context(), []Join{j}, Options{}); err == nil || !strings.Contains(err.Error(), "read back ") {
		t.Error(err)
	}
}

// forgetful drops writes of tags, and answers with something else.
type forgetful struct{ registry.Repository }

func (f *forgetful) Head(ctx context.Context, ref string) (v1.Descriptor, error) {
	if ref == "v1.0.0" {
		ref = "dev-amd64"
	}
	return f.Repository.Head(ctx, ref)
}

func TestCancellingWritesNothing(t *testing.T) {
	s := serve(t)
	j := pushed(t, s.repo(t, "a"), "linux/amd64", "v1.0.0")
	s.writes()
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Check: func(context.Context, Join, Leg, v1.Image) error { cancel(); return nil }}
	if _, err := Manifest(ctx, []Join{j}, o); !errors.Is(err, context.Canceled) || len(s.writes()) != 0 {
		t.Error(err)
	}
}
