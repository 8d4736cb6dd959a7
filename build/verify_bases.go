package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/verify"
)

// askedBases asks the registry for the bases of all Dockerfiles, each reference
// once. Where it has no image for a platform, or gives no answer, a stand-in
// serves, so that what else is wrong is found all the same.
type askedBases struct {
	client *registry.Client
	mu     sync.Mutex
	asked  map[string]*askedBase
}

// askedBase is one reference. Its fields are read when nobody asks any more.
type askedBase struct {
	once  sync.Once
	offer registry.Offer
	err   error // of the reference, or of the first platform
}

func newAskedBases(c *registry.Client) *askedBases {
	return &askedBases{client: c, asked: map[string]*askedBase{}}
}

// Resolve implements [dockerfile.BaseResolver]. Its only errors are those of
// its context.
func (b *askedBases) Resolve(ctx context.Context, ref string, p platform.Platform) (dockerfile.ResolvedBase, error) {
	a := b.base(ref)
	a.once.Do(func() { a.offer, a.err = b.client.Offer(ctx, ref) })
	base, err := registry.Base{}, a.err
	if err == nil {
		base, err = b.client.Resolve(ctx, ref, p)
	}
	switch {
	case ctx.Err() != nil:
		return dockerfile.ResolvedBase{}, context.Cause(ctx)
	case err == nil:
		return dockerfile.ResolvedBase{Digest: base.Digest, Config: base.Config}, nil
	case !is[*registry.NoPlatformError](err):
		b.fail(a, err)
	}
	return dockerfile.Offline{}.Resolve(ctx, ref, p)
}

func (b *askedBases) base(ref string) *askedBase {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked[ref] == nil {
		b.asked[ref] = &askedBase{}
	}
	return b.asked[ref]
}

func (b *askedBases) fail(a *askedBase, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.err == nil {
		a.err = err
	}
}

// answers is what is known of each base; nil where nobody asked.
func (b *askedBases) answers() map[string]verify.BaseAnswer {
	if len(b.asked) == 0 {
		return nil
	}
	known := map[string]verify.BaseAnswer{}
	for ref, a := range b.asked {
		if a.err == nil {
			known[ref] = verify.BaseAnswer(a.offer)
		}
	}
	return known
}

// failures are the bases without an answer, each once, at the first place that
// names it.
func (b *askedBases) failures(w *work) error {
	var errs []error
	told := map[string]bool{}
	tell := func(ref, at string) {
		if a := b.asked[ref]; a != nil && a.err != nil && !told[ref] {
			told[ref] = true
			errs = append(errs, &unansweredBase{ref, at, a.err})
		}
	}
	for _, img := range w.images {
		for _, r := range w.recipes[img.Name] {
			for _, op := range r.Ops {
				if op.Base != nil {
					tell(op.Base.Ref, place(r, op))
				}
			}
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(b.asked)) {
		tell(ref, "") // named by no operation that was left
	}
	return errors.Join(errs...)
}

func place(r *dockerfile.Recipe, op dockerfile.Op) string {
	if len(op.Ranges) == 0 {
		return "dockerfile " + r.Dockerfile + ": "
	}
	return fmt.Sprintf("dockerfile %s:%d: ", r.Dockerfile, op.Ranges[0].Start.Line)
}

// unansweredBase is a base that is absent, or of which that is unknown. What the
// registry denies counts as absent: many answer so for what is not there.
type unansweredBase struct {
	ref, at string
	err     error
}

func (e *unansweredBase) Error() string {
	text := e.at + "base " + e.ref + ": " + e.err.Error()
	if errors.Is(e.err, registry.ErrDenied) {
		text += " (absent, or not permitted)"
	}
	return text
}

// Unwrap gives what it counts as and the cause.
func (e *unansweredBase) Unwrap() []error {
	if errors.Is(e.err, registry.ErrDenied) {
		return []error{registry.ErrAbsent, e.err}
	}
	return []error{e.err}
}
