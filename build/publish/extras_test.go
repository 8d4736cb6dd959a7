package publish

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/registry"
)

// refers puts a manifest that refers to subject, as oras and cosign 3 do.
func refers(t *testing.T, r registry.Repository, subject v1.Descriptor, content string) v1.Descriptor {
	t.Helper()
	base := put(t, r, "tmp", spec{platform: "linux/amd64", content: content})
	var m v1.Manifest
	if err := json.Unmarshal(manifest(t, r, base.Digest.String()).Raw, &m); err != nil {
		t.Fatal(err)
	}
	m.Subject = &v1.Descriptor{MediaType: subject.MediaType, Size: subject.Size, Digest: subject.Digest}
	m.Annotations = map[string]string{"what": content}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	put, err := registry.NewManifest(raw, types.OCIManifestSchema1)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.PutManifest(t.Context(), put.Digest.String(), put); err != nil {
		t.Fatal(err)
	}
	return put.Descriptor()
}

func signatureTag(d v1.Hash, suffix string) string {
	return strings.Replace(d.String(), ":", "-", 1) + suffix
}

func listed(t *testing.T, r registry.Repository, d v1.Hash) []string {
	t.Helper()
	list, err := r.Referrers(t.Context(), d.String())
	if err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, l := range list {
		digests = append(digests, l.Digest.String())
	}
	slices.Sort(digests)
	return digests
}

// With and without the referrers API at either end.
func TestPromoteCopiesWhatSigns(t *testing.T) {
	for name, without := range map[string][2]bool{"api": {}, "tags at the source": {true, false}, "tags at the destination": {false, true}, "tags": {true, true}} {
		t.Run(name, func(t *testing.T) {
			source, dest := serve(t), serve(t)
			if without[0] {
				source.withoutReferrers()
			}
			if without[1] {
				dest.withoutReferrers()
			}
			from, to := source.repo(t, "app"), dest.repo(t, "app")
			index := joined(t, from, "linux/amd64,linux/arm64", "v1.0.0")
			child := names(t, from, "v1.0.0").Manifests[1]
			onIndex := refers(t, from, index.Descriptor(), "signature")
			onChild := refers(t, from, child, "sbom")
			onSBOM := refers(t, from, onChild, "signature of the sbom")
			if without[0] {
				for subject, d := range map[v1.Hash]v1.Descriptor{index.Digest: onIndex, child.Digest: onChild, onChild.Digest: onSBOM} {
					if err := from.AddReferrers(t.Context(), subject.String(), []v1.Descriptor{d}); err != nil {
						t.Fatal(err)
					}
				}
			}
			sig := put(t, from, signatureTag(index.Digest, ".sig"), spec{platform: "linux/amd64", content: "cosign"})
			att := put(t, from, signatureTag(child.Digest, ".att"), spec{platform: "linux/amd64", content: "attest"})

			p := Promotion{Image: "app", Repo: to, From: from, Source: "v1.0.0", Tags: []string{"v1.0.0"}}
			if _, err := Promote(t.Context(), []Promotion{p}, Options{}); err != nil {
				t.Fatal(err)
			}
			if got := listed(t, to, index.Digest); got != nil {
				t.Errorf("copied unasked: %q", got)
			}
			p.Referrers = true // after the tag was moved: it is still made up for
			for range 2 {
				if _, err := Promote(t.Context(), []Promotion{p}, Options{}); err != nil {
					t.Fatal(err)
				}
			}
			fresh := dest.repo(t, "app")
			for subject, want := range map[v1.Hash]v1.Descriptor{index.Digest: onIndex, child.Digest: onChild, onChild.Digest: onSBOM} {
				if got := listed(t, fresh, subject); !slices.Equal(got, []string{want.Digest.String()}) {
					t.Errorf("%s has %q, want %s", subject, got, want.Digest)
				}
				img, err := fresh.Image(t.Context(), want.Digest.String())
				if err != nil {
					t.Fatal(err)
				}
				if err := hasLayers(t.Context(), fresh, img, "x"); err != nil {
					t.Error(err)
				}
			}
			for tag, want := range map[string]v1.Hash{signatureTag(index.Digest, ".sig"): sig.Digest, signatureTag(child.Digest, ".att"): att.Digest} {
				if got := manifest(t, fresh, tag); got.Digest != want {
					t.Errorf("%s names %s", tag, got.Digest)
				}
			}
		})
	}
}

func TestASignatureAtTheDestinationIsNotLost(t *testing.T) {
	s := serve(t)
	from, to := s.repo(t, "staging"), s.repo(t, "app")
	index := joined(t, from, "linux/amd64", "v1.0.0")
	tag := signatureTag(index.Digest, ".sig")
	put(t, from, tag, spec{platform: "linux/amd64", content: "of staging"})
	own := put(t, to, tag, spec{platform: "linux/amd64", content: "of release"})
	s.writes()
	p := Promotion{Image: "app", Repo: to, From: from, Source: "v1.0.0", Tags: []string{"v1.0.0"}, Referrers: true}
	_, err := Promote(t.Context(), []Promotion{p}, Options{})
	if err == nil || !strings.Contains(err.Error(), tag+": it holds what the source's does not") || len(s.writes()) != 0 {
		t.Error(err)
	}
	if m := manifest(t, to, tag); m.Digest != own.Digest {
		t.Error("it was replaced")
	}
	if _, err := Promote(t.Context(), []Promotion{p}, Options{Force: true}); err != nil || manifest(t, to, tag).Digest == own.Digest {
		t.Error(err)
	}
}
