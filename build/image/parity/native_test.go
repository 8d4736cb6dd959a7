//go:build engines

package parity

import (
	"context"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/image"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// native is the builder that is compared with BuildKit, made by setUp.
var native Builder

// newNative builds as `archmage image` does, up to the image: the same
// evaluation, the same resolution of bases, the same engine. The image is
// independent of blobs that later builds write.
func newNative(blobs *image.Blobs) Builder {
	bases := image.NewBases(registry.New(registry.Options{Jobs: 2}))
	return func(ctx context.Context, r Request) (v1.Image, error) {
		p, err := platform.Parse(r.Platform)
		if err != nil {
			return nil, err
		}
		recipe, err := dockerfile.Evaluate(ctx, dockerfile.Input{
			Context: r.Context, Dockerfile: r.Dockerfile, Platform: p, Target: r.Target,
			Args: pairs(r.Args), Labels: pairs(r.Labels), Bases: bases,
		})
		if err != nil {
			return nil, err
		}
		return image.Native{Bases: bases, Blobs: blobs}.Build(ctx, image.Request{
			Recipe: recipe, Context: r.Context, Created: time.Unix(0, 0),
		})
	}
}

func pairs(list []string) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		k, v, _ := strings.Cut(kv, "=")
		m[k] = v
	}
	return m
}
