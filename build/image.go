package build

import (
	"context"
	"errors"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/image"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
	"github.com/archmage-go/archmage/build/rootfs"
)

// Image verifies, compiles and builds every leg of the selected images, and
// writes them to IMAGE_OUT, or with PUSH to REGISTRY. One reference by digest
// per leg is printed, in the order of the plan. A leg that cannot be built does
// not keep the others from it; all that failed is returned.
func (p *Project) Image(ctx context.Context) error {
	if err := p.needVersion(); err != nil {
		return err
	}
	offline, err := p.look(ctx, evaluator{Project: p, unasked: true})
	if err != nil {
		return err
	}
	if len(offline.images) == 0 {
		return p.noImages()
	}
	if err := p.verifyFirst(offline); err != nil {
		return err
	}
	bases := image.NewBases(p.client)
	w, err := p.look(ctx, evaluator{Project: p, bases: bases, labels: p.labelsOn(bases), found: offline.found, start: true})
	if err != nil {
		return err
	}
	if err := p.checkBases(w, bases); err != nil {
		return err
	}
	if err := p.compile(ctx, w.plan.Binaries); err != nil {
		return err
	}
	if err := p.checkCopied(w); err != nil {
		return err
	}
	return p.buildLegs(ctx, w, bases)
}

// labelsOn gives the labels of a leg, on the bases as they were resolved.
func (p *Project) labelsOn(bases *image.Bases) func(plan.Image, *dockerfile.Recipe) map[string]string {
	return func(img plan.Image, r *dockerfile.Recipe) map[string]string {
		return labels(p.Settings, img, r, bases.Config(r.FinalBase))
	}
}

// buildLegs builds and writes every leg, several at once: as many are built as
// there are jobs, while others are on their way to the registry.
func (p *Project) buildLegs(ctx context.Context, w *work, bases *image.Bases) (err error) {
	blobs, err := image.NewBlobs("", rootfs.Indexes(p.cache(cacheLayers)))
	if err != nil {
		return err
	}
	blobs.Facts, blobs.Made = p.cache(cacheFacts), p.made
	defer func() { err = errors.Join(err, blobs.Close()) }()
	l := legs{
		Project: p, work: w, bases: bases, blobs: blobs, repos: repositories{Project: p, remote: p.Push},
		building: make(chan struct{}, p.Jobs), auditor: auditor(),
	}
	if err := l.claim(); err != nil {
		return err
	}
	receipts := make([]publish.Receipt, len(w.plan.Legs))
	images := make([]v1.Image, len(w.plan.Legs))
	failed := make([]error, len(w.plan.Legs))
	var group errgroup.Group
	group.SetLimit(p.Jobs + 2*requests(p.Settings)) // as many wait to be pushed as are pushed
	for _, leg := range w.plan.LeftOut {
		p.console.Note("%s is left out for %s: %s", leg.Image, leg.Platform, leg.Why)
	}
	if !p.DryRun {
		p.console.Expect("legs", legSubjects(w.plan.Legs))
	}
	for i, leg := range w.plan.Legs {
		l.building <- struct{}{} // here, so that legs are begun in the plan's order
		group.Go(func() error {
			receipts[i], images[i], failed[i] = l.show(ctx, leg)
			return nil
		})
	}
	_ = group.Wait()
	p.console.Settle()
	var built []publish.Receipt
	for i, r := range receipts {
		if failed[i] == nil && r.Digest != "" { // known even in a dry run
			p.result(l.repos.reference(r.Image, r.Tag, r.Digest))
			built = append(built, r)
		}
	}
	p.summarizeLegs(built)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failed = append(failed, p.load(ctx, w.plan.Legs, images))
	return errors.Join(dedupe(failed)...)
}

// dedupe drops what is said twice, such as one RUN that two platforms meet.
func dedupe(errs []error) []error {
	var kept []error
	for _, err := range errs {
		if err != nil && !slices.ContainsFunc(kept, func(k error) bool { return k.Error() == err.Error() }) {
			kept = append(kept, err)
		}
	}
	return kept
}
