package registry

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/containerd/platforms"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	specs "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/archmage-go/archmage/build/platform"
)

// Offer is what the reference of a base image names.
type Offer struct {
	Digest string // of the index or manifest
	Index  bool   // it names an index, not one image

	// Platforms that there is an image for, each once, in the index's order, and
	// normalised; such as Go does not compile for among them. Of a single image
	// what its config says, none where that says nothing.
	Platforms []platform.Platform
}

// Offer asks what ref offers. It reads the manifest that [Client.Resolve] reads
// too, once in a client's life, and the config of images whose platform nothing
// else tells.
func (c *Client) Offer(ctx context.Context, ref string) (Offer, error) {
	full, repo, id, err := c.baseRepository(ref)
	if err != nil {
		return Offer{}, err
	}
	top, err := c.named.get(ctx, full, func() (Manifest, error) { return repo.namedBase(ctx, id) })
	if err != nil {
		return Offer{}, repo.baseError(full, id, err)
	}
	o := Offer{Digest: top.Digest.String(), Index: top.MediaType.IsIndex()}
	if o.Index {
		err = repo.offered(ctx, &o, top)
	} else {
		err = repo.offer(ctx, &o, top)
	}
	return o, repo.baseError(full, id, err)
}

// offered adds what an index lists. Attestations have no platform of a machine.
func (r *remote) offered(ctx context.Context, o *Offer, top Manifest) error {
	index, err := v1.ParseIndexManifest(bytes.NewReader(top.Raw))
	if err != nil {
		return fmt.Errorf("parse index %s: %w", o.Digest, err)
	}
	for _, d := range index.Manifests {
		switch {
		case !d.MediaType.IsImage():
		case d.Platform != nil:
			o.add(specOf(*d.Platform))
		default:
			child, err := r.baseManifest(ctx, d.Digest.String())
			if err == nil {
				err = r.offer(ctx, o, child)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// offer adds what an image's config says.
func (r *remote) offer(ctx context.Context, o *Offer, m Manifest) error {
	b := Base{manifest: m}
	if err := r.load(ctx, &b); err != nil {
		return err
	}
	spec, err := configPlatform(b.Config)
	if err == nil {
		o.add(spec)
	}
	return err
}

func (o *Offer) add(spec specs.Platform) {
	spec = platforms.Normalize(spec)
	p := platform.Platform{OS: spec.OS, Arch: spec.Architecture, Variant: spec.Variant}
	if p.OS != "" && p.OS != "unknown" && p.Arch != "" && !slices.Contains(o.Platforms, p) {
		o.Platforms = append(o.Platforms, p)
	}
}
