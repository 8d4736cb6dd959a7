package publish

import (
	"bytes"
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/registry"
)

// copier copies manifests with all they refer to from one repository to
// another, by digest and unchanged. Blobs that the registry can mount are
// mounted.
type copier struct {
	from, to registry.Repository
	done     map[string]bool // digests; each is copied once
}

// copy copies what digest names: what it refers to first, itself last.
func (c *copier) copy(ctx context.Context, digest string) error {
	if c.done[digest] {
		return nil
	}
	m, err := c.from.Manifest(ctx, digest)
	if err != nil {
		return err
	}
	if m.MediaType.IsIndex() {
		err = c.index(ctx, m)
	} else {
		err = c.image(ctx, digest)
	}
	if err == nil {
		if c.done == nil {
			c.done = map[string]bool{}
		}
		c.done[digest] = true
	}
	return err
}

func (c *copier) index(ctx context.Context, m registry.Manifest) error {
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return err
	}
	for _, d := range index.Manifests {
		if err := c.copy(ctx, d.Digest.String()); err != nil {
			return err
		}
	}
	return c.to.PutManifest(ctx, m.Digest.String(), m)
}

func (c *copier) image(ctx context.Context, digest string) error {
	img, err := c.from.Image(ctx, digest)
	if err == nil {
		_, err = c.to.PutImage(ctx, digest, img)
	}
	return err
}
