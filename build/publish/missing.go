package publish

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/registry"
)

// Missing reports of each leg whether it is still to build from revision, in
// their order. A leg of a fixed version is there, unless it says that it is from
// another revision; one of a version that moves is there only if it says that it
// is from this one, of a tree without changes. What is incomplete is missing.
// What is unknown of any is an error.
func Missing(ctx context.Context, legs []Push, revision string, jobs int) ([]bool, error) {
	missing, errs := make([]bool, len(legs)), make([]error, len(legs))
	var group errgroup.Group
	group.SetLimit(Options{Jobs: jobs}.jobs())
	for i, p := range legs {
		group.Go(func() error {
			missing[i], errs[i] = p.missing(ctx, revision)
			return nil
		})
	}
	_ = group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return missing, errors.Join(errs...)
}

func (p Push) missing(ctx context.Context, revision string) (bool, error) {
	m, err := readLeg(ctx, p.Repo, p.Leg)
	var no *refusal
	if errors.Is(err, registry.ErrAbsent) || errors.As(err, &no) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	has := m.revision()
	if p.Fixed {
		return has != "" && revision != "" && has != revision, nil
	}
	return has == "" || has != revision || strings.HasSuffix(revision, dirty), nil
}
