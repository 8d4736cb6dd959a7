package build

import (
	"context"
	"slices"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/publish"
)

// legKey is what names a leg.
type legKey struct {
	image string
	on    platform.Platform
}

func keyOf(leg plan.Leg) legKey { return legKey{leg.Image, leg.Platform} }

// absent are those of legs that are not published from this revision yet: in
// REGISTRY, or in IMAGE_OUT where none is set.
func (p *Project) absent(ctx context.Context, legs []plan.Leg) (map[legKey]bool, error) {
	repos := p.repositories()
	fixed := publish.Fixed(plan.BaseVersion(p.Leg, p.Version))
	asked := make([]publish.Push, len(legs))
	for i, leg := range legs {
		repo, err := repos.open(leg.Image)
		if err != nil {
			return nil, err
		}
		asked[i] = publish.Push{Image: leg.Image, Repo: repo, Leg: publish.Leg{Platform: leg.Platform, Tag: leg.Tag}, Fixed: fixed}
	}
	missing, err := publish.Missing(ctx, asked, p.Commit.Revision, requests(p.Settings))
	if err != nil {
		return nil, err
	}
	absent := map[legKey]bool{}
	for i, leg := range legs {
		absent[keyOf(leg)] = missing[i]
	}
	return absent, nil
}

// only leaves in a plan the legs that are absent. All else of it stays.
func only(absent map[legKey]bool, full *plan.Plan) *plan.Plan {
	there := func(leg plan.Leg) bool { return !absent[keyOf(leg)] }
	less := *full
	less.Legs = slices.DeleteFunc(append([]plan.Leg{}, full.Legs...), there) // in JSON a list, of none too
	less.LeftOut = slices.DeleteFunc(slices.Clone(full.LeftOut), there)
	return &less
}

// withLegs leaves in a plan, for people, what legs are about.
func withLegs(full *plan.Plan) *plan.Plan {
	less := *full
	less.Commands = nil
	less.Images = slices.DeleteFunc(slices.Clone(full.Images), func(img plan.Image) bool {
		ofImage := func(leg plan.Leg) bool { return leg.Image == img.Name }
		return !slices.ContainsFunc(full.Legs, ofImage) && !slices.ContainsFunc(full.LeftOut, ofImage)
	})
	return &less
}
