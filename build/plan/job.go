package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// Job is what one CI job builds: images, on platforms. Of each image it builds
// exactly legs of its plan, no more, when it is given both as settings.
type Job struct {
	Name      string `json:"name"`
	Images    string `json:"images"`    // blank separated, for WHAT
	Platforms string `json:"platforms"` // likewise, for IMAGE_PLATFORMS
	Runner    string `json:"runner"`
	Engine    string `json:"engine"`
}

// JobOptions say how legs are spread over jobs.
type JobOptions struct {
	Platforms []platform.Platform // their order
	Runner    func(platform.Platform) string
	Max       int // jobs that there may be; 0 is one per leg that needs an engine
}

// Jobs spreads the legs of a plan over CI jobs: all that are built natively in
// one, on the runner of the zero platform, since they are cross-built; each other
// one in a job of its own, or, with Max, several that have a runner in common.
//
// A job's images are built on each of its platforms that they have. Where that
// would build more than the plan says, as when parts of it are published
// already, there is one job more.
func (p *Plan) Jobs(o JobOptions) ([]Job, error) {
	g := grouping{plan: p, order: o.Platforms}
	var native, others []group
	for _, l := range p.Legs {
		if l.Engine == Native {
			native = append(native, group{engine: Native, runner: o.Runner(platform.Platform{}), legs: []Leg{l}})
		} else {
			others = append(others, group{engine: l.Engine, runner: o.Runner(l.Platform), legs: []Leg{l}})
		}
	}
	native = g.shrink(g.images(native), 1)
	if o.Max > 0 {
		others = g.shrink(others, max(o.Max-len(native), 1))
	}
	groups := slices.Concat(native, others)
	if o.Max > 0 && len(groups) > o.Max {
		return nil, usage(fmt.Sprintf("%d jobs", o.Max), fmt.Sprintf("--max-jobs %d is the least here", len(groups)),
			"the legs cannot be grouped further: jobs have one runner and one engine each")
	}
	jobs := make([]Job, len(groups))
	for i, one := range groups {
		jobs[i] = g.job(one)
	}
	return jobs, nil
}

// group is a job to be.
type group struct {
	engine, runner string
	legs           []Leg // in the order of the plan
}

type grouping struct {
	plan  *Plan
	order []platform.Platform
}

// images puts the legs of each image together, as far as that is exact.
func (g grouping) images(list []group) []group {
	var kept []group
	for _, one := range list {
		at := slices.IndexFunc(kept, func(k group) bool { return k.legs[0].Image == one.legs[0].Image && g.exact(k, one) })
		if at < 0 {
			kept = append(kept, one)
			continue
		}
		kept[at] = join(kept[at], one)
	}
	return kept
}

// shrink joins groups until there are no more than most, or none that fit.
// The smallest are joined first, so that none becomes much larger than others.
func (g grouping) shrink(list []group, most int) []group {
	for len(list) > most {
		a, b := g.pair(list)
		if a < 0 {
			break
		}
		list[a] = join(list[a], list[b])
		list = slices.Delete(list, b, b+1)
	}
	return list
}

// pair finds the two groups that fit and are smallest together; of equal ones
// those of one platform, then the first.
func (g grouping) pair(list []group) (a, b int) {
	a, b, best := -1, -1, 0
	for i := range list {
		for k := i + 1; k < len(list); k++ {
			size := 2 * (len(list[i].legs) + len(list[k].legs))
			if list[i].legs[0].Platform != list[k].legs[0].Platform {
				size++
			}
			if (a < 0 || size < best) && g.exact(list[i], list[k]) {
				a, b, best = i, k, size
			}
		}
	}
	return a, b
}

func join(a, b group) group {
	a.legs = slices.Concat(a.legs, b.legs)
	return a
}

// exact reports whether one job can build two groups, and nothing else.
func (g grouping) exact(a, b group) bool {
	if a.engine != b.engine || a.runner != b.runner {
		return false
	}
	both := join(a, b)
	built := 0
	for _, img := range g.plan.Images {
		if !both.has(func(l Leg) bool { return l.Image == img.Name }) {
			continue
		}
		for _, pl := range img.Platforms {
			if both.has(func(l Leg) bool { return l.Platform == pl }) {
				built++
			}
		}
	}
	return built == len(both.legs)
}

func (g group) has(is func(Leg) bool) bool { return slices.ContainsFunc(g.legs, is) }

func (g grouping) job(one group) Job {
	var images []string
	for _, img := range g.plan.Images {
		if one.has(func(l Leg) bool { return l.Image == img.Name }) {
			images = append(images, img.Name)
		}
	}
	var platforms []platform.Platform
	for _, l := range one.legs {
		if !slices.Contains(platforms, l.Platform) {
			platforms = append(platforms, l.Platform)
		}
	}
	slices.SortStableFunc(platforms, func(a, b platform.Platform) int {
		return cmp.Compare(slices.Index(g.order, a), slices.Index(g.order, b))
	})
	j := Job{Images: strings.Join(images, " "), Platforms: Words(platforms), Runner: one.runner, Engine: one.engine}
	j.Name = short(images) + " " + j.Platforms
	if one.engine == Native {
		j.Name = Native + " " + short(images)
	}
	return j
}

// short is a list of names as the name of a job shows it.
func short(names []string) string {
	const shown = 4
	if len(names) <= shown {
		return strings.Join(names, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown-1], " "), len(names)-shown+1)
}
