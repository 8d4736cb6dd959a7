package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/containerd/platforms"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	specs "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/archmage-go/archmage/build/platform"
)

// Base is a base image, resolved for one platform.
type Base struct {
	Ref      string            // as FROM names it, normalised: docker.io/library/alpine:3.20
	Digest   string            // of the index or manifest that Ref names
	Manifest string            // of the image manifest that was chosen; Digest where Ref names no index
	Platform platform.Platform // what the config says; zero where it says nothing known
	Config   []byte            // the image config as stored

	manifest Manifest
	from     *remote
}

// Image is the image itself. Its layers are read when they are asked for,
// under ctx, and can be mounted when they are pushed to the same registry.
func (b Base) Image(ctx context.Context) (v1.Image, error) {
	img, err := newImage(b.manifest, b.opener(ctx), b.from.repo.Digest(b.Manifest))
	return img, b.from.fail("read", b.Manifest, err)
}

// opener reads blobs under ctx, but for the config, which is here.
func (b Base) opener(ctx context.Context) opener {
	config, read := digestOf(b.Config), b.from.opener(ctx)
	return func(d v1.Descriptor) (io.ReadCloser, error) {
		if d.Digest == config {
			return io.NopCloser(bytes.NewReader(b.Config)), nil
		}
		return read(d)
	}
}

// NoPlatformError says that an index has no image for a platform.
type NoPlatformError struct {
	Ref  string
	Want platform.Platform
	Have []string // what it has, in its order
}

func (e *NoPlatformError) Error() string {
	return fmt.Sprintf("resolve %s: no image for %s (it has %s)", e.Ref, e.Want, strings.Join(strings.Fields(strings.Join(e.Have, ", ")), " "))
}

// Resolve finds the base image that ref means on p, in the mirror that serves
// it where there is one. Of an index it takes what BuildKit v0.34.2 takes,
// which is not always an image for p itself: containerd lets linux/386 serve
// linux/amd64. A single manifest serves every platform. Base.Platform is what
// the image says it is.
//
// Each ref is asked for once in a client's life: a tag that moves meanwhile
// gives every platform the same index.
func (c *Client) Resolve(ctx context.Context, ref string, p platform.Platform) (Base, error) {
	full, repo, id, err := c.baseRepository(ref)
	if err != nil {
		return Base{}, err
	}
	return c.bases.get(ctx, full+" "+p.String(), func() (Base, error) {
		top, err := c.named.get(ctx, full, func() (Manifest, error) { return repo.namedBase(ctx, id) })
		if err != nil {
			return Base{}, repo.baseError(full, id, err)
		}
		b := Base{Ref: full, Digest: top.Digest.String(), manifest: top, from: repo}
		if top.MediaType.IsIndex() {
			err = repo.choose(ctx, &b, p)
		} else {
			err = repo.load(ctx, &b)
		}
		if err != nil {
			return Base{}, repo.baseError(full, id, err)
		}
		return b, nil
	})
}

func (r *remote) baseError(full, id string, err error) error {
	if _, ok := err.(*NoPlatformError); ok {
		return err
	}
	what := full
	if at := reference(r.name, id); at != full {
		what += " (from " + at + ")"
	}
	return fail("resolve", what, r.host(), err)
}

// baseRepository parses ref and says where it is read from. full is the
// normalised reference, id the tag or digest.
func (c *Client) baseRepository(ref string) (full string, repo *remote, id string, err error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return "", nil, "", fmt.Errorf("resolve %s: not an image reference", mask(ref))
	}
	id = parsed.Identifier()
	origin := displayHost(parsed.Context().RegistryStr()) + "/" + parsed.Context().RepositoryStr()
	full = reference(origin, id)
	source := c.mirrored(origin)
	opened, err := c.open(source, Read)
	if err != nil {
		return "", nil, "", fmt.Errorf("resolve %s: %w", full, err)
	}
	return full, opened, id, nil
}

// Mirrored is the repository that a mirror serves the base image ref from, as
// NAME without tag; "" where none does.
func (c *Client) Mirrored(ref string) string {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return ""
	}
	origin := displayHost(parsed.Context().RegistryStr()) + "/" + parsed.Context().RepositoryStr()
	if at := c.mirrored(origin); at != origin {
		return at
	}
	return ""
}

// load reads the config of b's manifest.
func (r *remote) load(ctx context.Context, b *Base) error {
	b.Manifest = b.manifest.Digest.String()
	img, err := newImage(b.manifest, r.opener(ctx), nil)
	if err != nil {
		return err
	}
	manifest, err := img.Manifest()
	if err != nil {
		return err
	}
	if b.Config, err = r.baseConfig(ctx, manifest.Config, img.RawConfigFile); err != nil {
		return err
	}
	spec, err := configPlatform(b.Config)
	if err != nil {
		return fmt.Errorf("config of %s: %w", b.Manifest, err)
	}
	b.Platform, _ = platform.Parse(specText(spec))
	return nil
}

// choose takes the child of an index that BuildKit takes: of those that match,
// the best by containerd's order, entries without a platform last, and those
// only if their config matches (containerd v2.4.2, images.Manifest).
func (r *remote) choose(ctx context.Context, b *Base, p platform.Platform) error {
	index, err := v1.ParseIndexManifest(bytes.NewReader(b.manifest.Raw))
	if err != nil {
		return fmt.Errorf("parse index %s: %w", b.Digest, err)
	}
	match := platforms.Only(specs.Platform{OS: p.OS, Architecture: p.Arch, Variant: p.Variant})
	for _, d := range candidates(index, match) {
		child := *b
		if child.manifest, err = r.baseManifest(ctx, d.Digest.String()); err != nil {
			return err
		}
		if err := r.load(ctx, &child); err != nil {
			return err
		}
		spec, _ := configPlatform(child.Config)
		if d.Platform != nil || match.Match(spec) {
			*b = child
			return nil
		}
	}
	return &NoPlatformError{Ref: b.Ref, Want: p, Have: offered(index)}
}

func candidates(index *v1.IndexManifest, match platforms.MatchComparer) []v1.Descriptor {
	fits := slices.Clone(index.Manifests)
	fits = slices.DeleteFunc(fits, func(d v1.Descriptor) bool {
		return !d.MediaType.IsImage() || d.Platform != nil && !match.Match(specOf(*d.Platform))
	})
	slices.SortStableFunc(fits, func(a, b v1.Descriptor) int {
		switch {
		case a.Platform == nil || b.Platform == nil:
			return boolOrder(a.Platform == nil, b.Platform == nil)
		case match.Less(specOf(*a.Platform), specOf(*b.Platform)):
			return -1
		case match.Less(specOf(*b.Platform), specOf(*a.Platform)):
			return 1
		}
		return 0
	})
	return fits
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// offered lists the platforms of an index; attestations have none.
func offered(index *v1.IndexManifest) []string {
	have := []string{}
	for _, d := range index.Manifests {
		if d.Platform != nil && d.Platform.OS != "unknown" && !slices.Contains(have, d.Platform.String()) {
			have = append(have, d.Platform.String())
		}
	}
	return have
}

func specOf(p v1.Platform) specs.Platform {
	return specs.Platform{OS: p.OS, Architecture: p.Architecture, Variant: p.Variant, OSVersion: p.OSVersion, OSFeatures: p.OSFeatures}
}

func specText(p specs.Platform) string {
	return strings.TrimSuffix(p.OS+"/"+p.Architecture+"/"+p.Variant, "/")
}

func configPlatform(raw []byte) (specs.Platform, error) {
	var p specs.Platform
	err := json.NewDecoder(io.LimitReader(bytes.NewReader(raw), maxManifest)).Decode(&p)
	return p, err
}
