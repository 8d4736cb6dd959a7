package image

import (
	"context"
	"errors"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Native builds recipes without RUN, with no engine at all. It may be used by
// several goroutines.
type Native struct {
	Bases *Bases
	Blobs *Blobs // where new layers are written

	DryRun bool // nothing is built: the error is [ErrDryRun]
}

// Build implements [Builder]. The same request gives the same digest on any
// machine. The image reads its new layers from n.Blobs, so it lives no longer
// than they do.
func (n Native) Build(ctx context.Context, r Request) (_ v1.Image, err error) {
	if op, needed := r.Recipe.NeedsEngine(); needed {
		return nil, refuse(r.Recipe, op)
	}
	if n.DryRun {
		return nil, ErrDryRun
	}
	x := newExecutor(n, r)
	defer func() { err = errors.Join(err, x.close()) }()
	result, err := x.run(ctx)
	if err != nil {
		return nil, err
	}
	layers, err := n.layers(ctx, result, r)
	if err != nil {
		return nil, err
	}
	return assemble(r, layers)
}

// layers writes the layers that an image consists of.
func (n Native) layers(ctx context.Context, s snapshot, r Request) ([]layer, error) {
	layers := make([]layer, 0, len(s.layers))
	for _, p := range s.layers {
		l, err := p.write(ctx, n.Blobs, r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.where, err)
		}
		layers = append(layers, l)
	}
	return layers, nil
}
