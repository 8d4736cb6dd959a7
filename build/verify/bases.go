package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/containerd/platforms"
	specs "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// wanted is a base that a registry knows, at one place that names it.
type wanted struct {
	r    *dockerfile.Recipe
	ins  *dockerfile.Instruction // FROM, COPY --from or RUN --mount
	op   int
	base dockerfile.Base
	has  BaseAnswer

	final bool // the image is built on it
	host  bool // it is asked for the machine that builds
}

// wanted lists them in the order of the recipes and of their operations.
func (s *state) wanted() []wanted {
	var list []wanted
	for _, r := range s.judged() {
		for i, op := range r.Ops {
			if op.Base == nil {
				continue
			}
			has, ok := s.Bases[op.Base.Ref]
			for _, at := range op.Ranges {
				if ins := standing(r.File, at); ok && ins != nil {
					w := wanted{r: r, ins: ins, op: i, base: *op.Base, has: has}
					if ins.Keyword == "FROM" {
						st := &r.File.Stages[ins.Stage]
						w.final, w.host = st == root(r), st.HostBound
					}
					list = append(list, w)
				}
			}
		}
	}
	return list
}

// standing is the instruction at a place; a base's trigger stands at its FROM.
func standing(f *dockerfile.File, at dockerfile.Range) *dockerfile.Instruction {
	for i := range f.Stages {
		if f.Stages[i].From.Range == at {
			return &f.Stages[i].From
		}
		for k := range f.Stages[i].Instructions {
			if ins := &f.Stages[i].Instructions[k]; ins.Range == at {
				return ins
			}
		}
	}
	return nil
}

// taken is the platform whose image BuildKit takes, and whether it takes any: of
// an index the best by containerd's order, of a single image that one, whatever
// was asked for. The zero platform is one that does not say what it is for.
func (w wanted) taken() (platform.Platform, bool) {
	if !w.has.Index {
		return w.only(), true
	}
	match := platforms.Only(spec(w.base.Platform))
	best, ok := platform.Platform{}, false
	for _, p := range w.has.Platforms {
		if match.Match(spec(p)) && (!ok || match.Less(spec(p), spec(best))) {
			best, ok = p, true
		}
	}
	return best, ok
}

func (w wanted) only() platform.Platform {
	if len(w.has.Platforms) == 0 {
		return platform.Platform{}
	}
	return w.has.Platforms[0]
}

func spec(p platform.Platform) specs.Platform {
	return platforms.Normalize(specs.Platform{OS: p.OS, Architecture: p.Arch, Variant: p.Variant})
}

// misfits reports whether BuildKit takes an image of another architecture, for
// what needs one of the platform's own: the image is built on it, its programs
// are run, or they are copied. Data may come from an image for any platform, and
// what the machine that builds runs is its own affair.
func (w wanted) misfits() bool {
	p, ok := w.taken()
	if !ok || p == (platform.Platform{}) || w.host || serves(p, w.base.Platform) {
		return false
	}
	return w.final || w.runs() || w.copiesPrograms()
}

// runs reports whether a RUN works in the base, or in a stage on it.
func (w wanted) runs() bool {
	return slices.ContainsFunc(w.r.Ops, func(op dockerfile.Op) bool {
		return op.Run != nil && bottom(w.r, op.Run.Parent) == w.op
	})
}

// bottom is the operation that a tree begins with.
func bottom(r *dockerfile.Recipe, at int) int {
	for at != dockerfile.Scratch {
		switch op := r.Ops[at]; {
		case op.File != nil:
			at = op.File.Parent
		case op.Run != nil:
			at = op.Run.Parent
		case op.Kind == dockerfile.KindMerge:
			at = op.Inputs[0]
		default:
			return at
		}
	}
	return at
}

// copiesPrograms reports whether something below a directory of programs or
// libraries is copied from the base as it is.
func (w wanted) copiesPrograms() bool {
	for i, op := range w.r.Ops {
		if op.File == nil || !w.r.ReachesResult(i) {
			continue
		}
		for _, a := range op.File.Actions {
			if a.Copy != nil && a.Copy.From == w.op && slices.ContainsFunc(strings.Split(path.Clean(a.Copy.Src), "/"), holdsPrograms) {
				return true
			}
		}
	}
	return false
}

func holdsPrograms(dir string) bool {
	return slices.Contains([]string{"bin", "sbin", "lib", "lib64", "libexec"}, dir)
}

// pinned reports whether the Dockerfile names a digest.
func (w wanted) pinned() bool { return strings.Contains(w.base.Ref, "@") }
