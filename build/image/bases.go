package image

import (
	"context"
	"fmt"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// Bases are the base images of one run, each resolved once and pinned to that
// digest. It serves the evaluation of Dockerfiles and the native
// engine, from several goroutines.
type Bases struct {
	client *registry.Client

	mu    sync.Mutex
	found map[baseKey]registry.Base
}

type baseKey struct {
	ref      string // as it was asked for, which is how recipes name it
	platform platform.Platform
}

// NewBases returns bases that c resolves.
func NewBases(c *registry.Client) *Bases {
	return &Bases{client: c, found: map[baseKey]registry.Base{}}
}

// Resolve implements [dockerfile.BaseResolver].
func (b *Bases) Resolve(ctx context.Context, ref string, p platform.Platform) (dockerfile.ResolvedBase, error) {
	base, err := b.client.Resolve(ctx, ref, p)
	if err != nil {
		return dockerfile.ResolvedBase{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.found[baseKey{ref, p}] = base
	return dockerfile.ResolvedBase{Digest: base.Digest, Config: base.Config}, nil
}

// Image is the image of a base as it was resolved.
func (b *Bases) Image(ctx context.Context, base dockerfile.Base) (v1.Image, error) {
	found, ok := b.get(base)
	if !ok {
		return nil, fmt.Errorf("base %s: not resolved for %s", base.Ref, base.Platform)
	}
	return found.Image(ctx)
}

func (b *Bases) get(base dockerfile.Base) (registry.Base, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, ok := b.found[baseKey{base.Ref, base.Platform}]
	return found, ok
}

// Config is the config of a recipe's base; nil is scratch and has none.
func (b *Bases) Config(base *dockerfile.Base) []byte {
	if base == nil {
		return nil
	}
	found, _ := b.get(*base)
	return found.Config
}

// Platform is what a base says itself that it is for, and whether it says
// anything that has a name here.
func (b *Bases) Platform(base dockerfile.Base) (platform.Platform, bool) {
	found, _ := b.get(base)
	return found.Platform, found.Platform != platform.Platform{}
}
