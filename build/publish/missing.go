package publish

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/registry"
)

// Missing reports of each leg whether its tag is certainly absent, in their
// order. What is unknown of any is an error.
func Missing(ctx context.Context, legs []Push, jobs int) ([]bool, error) {
	missing, errs := make([]bool, len(legs)), make([]error, len(legs))
	var group errgroup.Group
	group.SetLimit(Options{Jobs: jobs}.jobs())
	for i, p := range legs {
		group.Go(func() error {
			_, err := p.Repo.Head(ctx, p.Leg.Tag)
			if missing[i] = errors.Is(err, registry.ErrAbsent); !missing[i] {
				errs[i] = err
			}
			return nil
		})
	}
	_ = group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return missing, errors.Join(errs...)
}
