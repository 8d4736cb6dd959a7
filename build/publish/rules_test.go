package publish

import (
	"context"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/registry"
)

// linear is a history of commits that follow each other.
func linear(commits ...string) func(context.Context, string, string) bool {
	return func(_ context.Context, a, b string) bool {
		i, k := slices.Index(commits, a), slices.Index(commits, b)
		return i >= 0 && k >= 0 && i < k
	}
}

const (
	monday  = "2026-01-05T00:00:00Z"
	tuesday = "2026-01-06T00:00:00Z"
)

// The rules of shared tags, through both verbs that move them.
func TestWhatASharedTagMayBeMovedTo(t *testing.T) {
	tests := []struct {
		name    string
		tag     string
		version string // that is published, and judged by
		old     *spec  // that the tag names; nil is none
		recent  spec
		says    string // of the refusal; "" is none
	}{
		{"latest takes a stable version", "latest", "v1.2.3", nil, spec{}, ""},
		{"without v too", "latest", "1.2.3", nil, spec{}, ""},
		{"no pre-release", "latest", "v1.2.3-rc.1", nil, spec{}, "v1.2.3-rc.1 is no stable version"},
		{"no described commit", "latest", "v1.2.3-4-gabcdef0", nil, spec{}, "no stable version"},
		{"no short version", "latest", "v1.2", nil, spec{}, "no stable version"},
		{"no branch", "latest", "main", nil, spec{}, "main is no stable version"},
		{"no commit", "latest", "sha-abc123", nil, spec{}, "no stable version"},
		{"latest goes up", "latest", "v1.10.0", &spec{version: "v1.9.0"}, spec{}, ""},
		{"and not down", "latest", "v1.9.0", &spec{version: "v1.10.0"}, spec{}, "it names version v1.10.0, v1.9.0 is lower"},
		{"with or without v", "latest", "1.9.0", &spec{version: "v1.10.0"}, spec{}, "is lower"},
		{"numbers have any size", "latest", "v1.0.99999999999999999999", &spec{version: "v1.0.100000000000000000000"}, spec{}, "is lower"},
		{"the same version again", "latest", "v1.9.0", &spec{version: "v1.9.0"}, spec{}, ""},
		{"over a pre-release of it", "latest", "v1.9.0", &spec{version: "v1.9.0-rc.1"}, spec{}, ""},
		{"under a pre-release of a later one", "latest", "v1.8.9", &spec{version: "v1.9.0-rc.1"}, spec{}, "is lower"},
		{"a label that is no version says nothing", "latest", "v1.9.0", &spec{version: "main"}, spec{}, ""},
		{"no label says nothing", "latest", "v1.9.0", &spec{}, spec{}, ""},
		{"latest does not ask for commits", "latest", "v1.10.0", &spec{version: "v1.9.0", revision: "c2"}, spec{revision: "c1"}, ""},

		{"a branch goes forward", "main", "sha-c2", &spec{revision: "c1"}, spec{revision: "c2"}, ""},
		{"and not back", "main", "sha-c1", &spec{revision: "c2", created: monday}, spec{revision: "c1"}, "it names revision c2 of 2026-01-05T00:00:00Z, revision c1 is older"},
		{"history counts before time", "main", "sha-c2", &spec{revision: "c1", created: tuesday}, spec{revision: "c2", created: monday}, ""},
		{"against time", "main", "sha-c1", &spec{revision: "c2", created: monday}, spec{revision: "c1", created: tuesday}, "is older"},
		{"one commit twice", "main", "sha-c1", &spec{revision: "c1", created: tuesday}, spec{revision: "c1", created: monday}, ""},
		{"a changed tree is its commit", "main", "sha-c1", &spec{revision: "c2-dirty"}, spec{revision: "c1"}, "is older"},
		{"a changed tree of the same commit", "main", "sha-c1", &spec{revision: "c1-dirty", created: tuesday}, spec{revision: "c1", created: monday}, ""},
		{"unknown commits go by time", "main", "sha-x", &spec{revision: "y", created: tuesday}, spec{revision: "x", created: monday}, "is older"},
		{"forward", "main", "sha-x", &spec{revision: "y", created: monday}, spec{revision: "x", created: tuesday}, ""},
		{"in any zone", "main", "sha-x", &spec{revision: "y", created: "2026-01-06T00:30:00+01:00"}, spec{revision: "x", created: "2026-01-05T23:00:00Z"}, "is older"},
		{"no revision goes by time", "main", "sha-x", &spec{revision: "-", created: tuesday}, spec{revision: "x", created: monday}, "it names what was created 2026-01-06"},
		{"a time that is none says nothing", "main", "sha-x", &spec{revision: "y", created: "yesterday"}, spec{revision: "x", created: monday}, ""},
		{"nor does the beginning of time", "main", "sha-x", &spec{revision: "y", created: tuesday}, spec{revision: "x", created: "1970-01-01T00:00:00Z"}, ""},
		{"no labels say nothing", "main", "sha-x", &spec{revision: "-"}, spec{revision: "-"}, ""},
		{"a short version is a branch", "v1", "v1.0.0", &spec{revision: "c2"}, spec{revision: "c1"}, "is older"},

		{"a fixed version is written once", "v1.0.0", "sha-c2", &spec{revision: "c1"}, spec{revision: "c2"}, "it names sha256:"},
		{"and is not asked for its age", "v1.0.0", "sha-c1", nil, spec{revision: "c1"}, ""},
	}
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		for i, tt := range tests {
			for _, verb := range []string{"manifest", "promote"} {
				r := repo("app-" + verb + "-" + string(rune('a'+i/26)) + string(rune('a'+i%26)))
				prepareRule(t, r, tt.tag, tt.old, tt.recent)
				run := func(o Options) error {
					o.Before = linear("c1", "c2")
					var err error
					if verb == "manifest" {
						j := Join{Image: "app", Repo: r, Version: tt.version, Tags: []string{tt.tag}, Legs: []Leg{{Platform: parse(t, "linux/amd64"), Tag: "dev-amd64"}}}
						_, err = Manifest(t.Context(), []Join{j}, o)
					} else {
						putSource(t, r, tt.version)
						_, err = Promote(t.Context(), []Promotion{{Image: "app", Repo: r, Source: tt.version, Tags: []string{tt.tag}}}, o)
					}
					return err
				}
				before, _ := r.Head(t.Context(), tt.tag)
				err := run(Options{})
				after, _ := r.Head(t.Context(), tt.tag)
				if tt.says == "" && err != nil {
					t.Errorf("%s, %s: %v", verb, tt.name, err)
				}
				if tt.says == "" {
					continue
				}
				if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "move "+r.Name()+":"+tt.tag) || before.Digest != after.Digest {
					t.Errorf("%s, %s: %v, want %q; %s before, %s after", verb, tt.name, err, tt.says, before.Digest, after.Digest)
				}
				if err := run(Options{Force: true}); err != nil {
					t.Errorf("%s, %s: forced: %v", verb, tt.name, err)
				}
				if forced, err := r.Head(t.Context(), tt.tag); err != nil || forced.Digest == before.Digest {
					t.Errorf("%s, %s: forced, it names %s, %v", verb, tt.name, forced.Digest, err)
				}
			}
		}
	})
}

// prepareRule puts what a tag names now, and the leg of what it is to name.
func prepareRule(t *testing.T, r registry.Repository, tag string, old *spec, recent spec) {
	t.Helper()
	if old != nil {
		s := *old
		s.platform, s.content = "linux/amd64", "old"
		d := put(t, r, "tmp", s)
		d.Platform = &v1.Platform{OS: "linux", Architecture: "amd64"}
		putIndex(t, r, tag, v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{d}})
	}
	recent.platform = "linux/amd64"
	put(t, r, "dev-amd64", recent)
}

// putSource tags an index around the leg.
func putSource(t *testing.T, r registry.Repository, tag string) {
	t.Helper()
	d, err := r.Head(t.Context(), "dev-amd64")
	if err != nil {
		t.Fatal(err)
	}
	d.Platform = &v1.Platform{OS: "linux", Architecture: "amd64"}
	putIndex(t, r, tag, v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{d}})
}

// What the tag names now may be broken: that must not keep it from being mended.
func TestABrokenTagCanBeReplaced(t *testing.T) {
	s := serve(t)
	r := s.repo(t, "app")
	d := put(t, r, "tmp", spec{platform: "linux/amd64", revision: "c2"})
	d.Platform = &v1.Platform{OS: "linux", Architecture: "amd64"}
	putIndex(t, r, "main", v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{d}})
	put(t, r, "dev-amd64", spec{platform: "linux/amd64", revision: "c1"})
	j := join(t, s.repo(t, "app"), "linux/amd64", "main")
	o := Options{Before: linear("c1", "c2")}
	for _, code := range []int{500, 401, 404} {
		s.answering(d.Digest.String(), code)
		if _, err := Manifest(t.Context(), []Join{j}, o); (err == nil) != (code == 404) {
			t.Errorf("with %d: %v", code, err)
		}
	}
}
