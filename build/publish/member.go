package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// Annotations by which BuildKit's exporter ties an attestation to its image
// (moby/buildkit, docs/attestations/attestation-storage.md).
const (
	referenceType   = "vnd.docker.reference.type"
	referenceDigest = "vnd.docker.reference.digest"
	attestation     = "attestation-manifest"
)

// member is a leg as it was read: what it adds to an index.
type member struct {
	leg         Leg
	named       v1.Descriptor   // what the tag names: the image, or an index around it
	entry       v1.Descriptor   // of the image
	attests     []v1.Descriptor // of what attests to it, as found
	config      types.MediaType
	labels      map[string]string // of the config
	annotations map[string]string // of the image manifest
	img         v1.Image          // usable under the context it was read with
}

func (mb *member) revision() string { return mb.labels[RevisionLabel] }

// received refuses a leg that is not the one of its receipt: somebody has
// pushed another one since.
func (mb *member) received(name string, o Options) error {
	if want := mb.leg.Digest; want != "" && want != mb.named.Digest.String() && !o.Force {
		no := refuse("join "+name+":"+mb.leg.Tag, "it names %s, its receipt is for %s", mb.named.Digest, want)
		no.hint = "somebody pushed another one since: build it again, or remove its receipt; IMAGE_FORCE=true takes what is there"
		return no
	}
	return nil
}

// readLeg reads the leg under its tag and checks that it is one image of the
// leg's platform, by its config. What is not there at all is
// registry.ErrAbsent; what is there and wrong is a *refusal.
func readLeg(ctx context.Context, repo registry.Repository, leg Leg) (*member, error) {
	m, err := repo.Manifest(ctx, leg.Tag)
	if err != nil {
		return nil, err
	}
	what := "join " + repo.Name() + ":" + leg.Tag
	mb := &member{leg: leg, named: m.Descriptor(), entry: m.Descriptor()}
	if m.MediaType.IsIndex() {
		if err := mb.unwrap(ctx, repo, m); err != nil {
			return nil, gone(what, err)
		}
	} else if !m.MediaType.IsImage() {
		return nil, refuse(what, "%s is no image manifest", m.MediaType)
	}
	if mb.img, err = repo.Image(ctx, mb.entry.Digest.String()); err != nil {
		return nil, gone(what, err)
	}
	if err := mb.inspect(what); err != nil {
		return nil, gone(what, err)
	}
	return mb, nil
}

// gone turns the absence of something that a leg consists of into a refusal:
// the leg itself is not absent.
func gone(what string, err error) error {
	if errors.Is(err, registry.ErrAbsent) {
		return refuse(what, "it is incomplete: %v", err)
	}
	return err
}

// unwrap takes the one image of the leg's platform out of an index, which is
// what buildx pushes with provenance, and what attests to that image.
func (mb *member) unwrap(ctx context.Context, repo registry.Repository, m registry.Manifest) error {
	what := "join " + repo.Name() + ":" + mb.leg.Tag
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return refuse(what, "parse index %s: %v", m.Digest, err)
	}
	var fits []v1.Descriptor
	var have []string
	for _, d := range images(index) {
		p, err := platformOf(ctx, repo, d)
		if err != nil {
			return err
		}
		have = append(have, p)
		if p == mb.leg.Platform.String() {
			fits = append(fits, d)
		}
	}
	if len(fits) != 1 {
		return refuse(what, "it is an index with %s for %s (it has %s)", plural(len(fits), "image"), mb.leg.Platform, orNone(have))
	}
	mb.entry = v1.Descriptor{MediaType: fits[0].MediaType, Size: fits[0].Size, Digest: fits[0].Digest}
	for _, d := range index.Manifests {
		if d.Annotations[referenceType] != attestation || d.Annotations[referenceDigest] != mb.entry.Digest.String() {
			continue
		}
		if _, err := repo.Head(ctx, d.Digest.String()); err != nil {
			return err
		}
		mb.attests = append(mb.attests, d)
	}
	return nil
}

// images are the entries of an index that are for a platform.
func images(index *v1.IndexManifest) []v1.Descriptor {
	var list []v1.Descriptor
	for _, d := range index.Manifests {
		unknown := d.Platform != nil && d.Platform.OS == "unknown" && d.Platform.Architecture == "unknown"
		if d.Annotations[referenceType] == "" && !unknown {
			list = append(list, d)
		}
	}
	return list
}

// platformOf is the platform of an index's entry, normalised where it is known;
// that of its config where the entry has none.
func platformOf(ctx context.Context, repo registry.Repository, d v1.Descriptor) (string, error) {
	if d.Platform != nil {
		return normal(d.Platform.OS, d.Platform.Architecture, d.Platform.Variant), nil
	}
	img, err := repo.Image(ctx, d.Digest.String())
	if err != nil {
		return "", err
	}
	c, err := readConfig(img)
	return normal(c.OS, c.Architecture, c.Variant), err
}

func normal(os, arch, variant string) string {
	text := strings.Trim(os+"/"+arch+"/"+variant, "/")
	if p, err := platform.Parse(text); err == nil {
		return p.String()
	}
	return text
}

// config is what joining asks of an image's config.
type config struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Variant      string `json:"variant"`
	Config       struct {
		Labels map[string]string `json:"Labels"`
	} `json:"config"`
}

func readConfig(img v1.Image) (config, error) {
	var c config
	raw, err := img.RawConfigFile()
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	return c, err
}

// inspect reads what the image says of itself.
func (mb *member) inspect(what string) error {
	manifest, err := mb.img.Manifest()
	if err != nil {
		return err
	}
	raw, err := mb.img.RawManifest()
	if err != nil {
		return err
	}
	c, err := readConfig(mb.img)
	if err != nil {
		return err
	}
	p := mb.leg.Platform
	if is := normal(c.OS, c.Architecture, c.Variant); is != p.String() {
		no := refuse(what, "its config is for %s, not %s", orNone([]string{is}), p)
		no.hint = "build the leg again with its platform given; a tag's name does not make an image " + p.String()
		return no
	}
	mb.entry.Size = int64(len(raw))
	mb.entry.Platform = &v1.Platform{OS: p.OS, Architecture: p.Arch, Variant: p.Variant}
	mb.config, mb.annotations = manifest.Config.MediaType, manifest.Annotations
	mb.labels = c.Config.Labels
	return nil
}

// hasLayers asks for every layer: a registry may have lost one, or collected it
// as garbage.
func hasLayers(ctx context.Context, repo registry.Repository, img v1.Image, what string) error {
	manifest, err := img.Manifest()
	if err != nil {
		return err
	}
	return gone(what, together(ctx, len(manifest.Layers), func(i int) error {
		l := manifest.Layers[i]
		if !l.MediaType.IsDistributable() {
			return nil
		}
		err := repo.HasBlob(ctx, l.Digest.String())
		if errors.Is(err, registry.ErrAbsent) {
			err = fmt.Errorf("layer %d: %w", i+1, err)
		}
		return err
	}))
}

func orNone(list []string) string {
	if text := strings.Join(list, ", "); text != "" {
		return text
	}
	return "none"
}
