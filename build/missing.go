package build

import (
	"context"
	"slices"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
)

// missing leaves in a plan the legs that are not published yet: in REGISTRY, or
// in IMAGE_OUT where none is set. All else of the plan stays.
func (p *Project) missing(ctx context.Context, full *plan.Plan) (*plan.Plan, error) {
	less := *full
	var err error
	if less.Legs, err = p.absentLegs(ctx, full.Legs); err != nil {
		return nil, err
	}
	less.LeftOut, err = p.absentLegs(ctx, full.LeftOut)
	return &less, err
}

func (p *Project) absentLegs(ctx context.Context, legs []plan.Leg) ([]plan.Leg, error) {
	repos := p.repositories()
	asked := make([]publish.Push, len(legs))
	for i, leg := range legs {
		repo, err := repos.open(leg.Image)
		if err != nil {
			return nil, err
		}
		asked[i] = publish.Push{Image: leg.Image, Repo: repo, Leg: publish.Leg{Platform: leg.Platform, Tag: leg.Tag}}
	}
	absent, err := publish.Missing(ctx, asked, p.Jobs)
	if err != nil {
		return nil, err
	}
	kept := []plan.Leg{} // in JSON a list, of none too
	for i, leg := range legs {
		if absent[i] {
			kept = append(kept, leg)
		}
	}
	return kept, nil
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
