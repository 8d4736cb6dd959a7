package publish

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"
)

// partsAtOnce is how many parts of one image or index are asked for at once.
const partsAtOnce = 4

// together calls ask for 0 to n-1, several at once, until one fails, and returns
// the error of the lowest number.
func together(ctx context.Context, n int, ask func(int) error) error {
	errs := make([]error, n)
	group, failed := errgroup.WithContext(ctx)
	group.SetLimit(partsAtOnce)
	for i := range n {
		group.Go(func() error {
			if failed.Err() == nil {
				errs[i] = ask(i)
			}
			return errs[i]
		})
	}
	_ = group.Wait()
	return cmp.Or(append(errs, context.Cause(ctx))...)
}
