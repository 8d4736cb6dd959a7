package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/verify/shell"
)

// step is a RUN of one recipe, read as far as its shell is understood.
type step struct {
	r      *dockerfile.Recipe
	op     int
	ins    *dockerfile.Instruction
	host   platform.Platform // of the base it runs on, so of the tools in it; the zero one is unknown
	base   string            // reference of that base
	script *shell.Script     // nil where the text is not understood
	calls  []shell.Call
}

// steps are the RUNs of every recipe, in the order of the recipes and of the
// graph. Those of a base's triggers, which stand in no file of the repository,
// are not among them.
type steps struct {
	list  []*step
	known bool
	texts shell.Scripts
}

func (s *state) steps() []*step {
	if s.runs.known {
		return s.runs.list
	}
	s.runs = steps{known: true, texts: shell.Scripts{
		Asks: asksPlatform, Hears: []string{"GOARCH", "GOOS", "GOBIN", "GOPATH", "CGO_ENABLED"},
	}}
	for _, r := range s.judged() {
		for i := range r.Ops {
			if run := r.Ops[i].Run; run != nil {
				for _, at := range r.Ops[i].Ranges {
					if ins := runAt(r.File, at); ins != nil {
						s.runs.list = append(s.runs.list, s.runs.step(r, i, ins))
					}
				}
			}
		}
	}
	return s.runs.list
}

// runAt is the RUN that stands at a place, unless a trigger made it.
func runAt(f *dockerfile.File, at dockerfile.Range) *dockerfile.Instruction {
	for i := range f.Stages {
		for k := range f.Stages[i].Instructions {
			ins := &f.Stages[i].Instructions[k]
			if ins.Keyword == "RUN" && !ins.OnBuild && f.Stages[i].Reachable && ins.Range.Start.Line == at.Start.Line {
				return ins
			}
		}
	}
	return nil
}

func (s *steps) step(r *dockerfile.Recipe, op int, ins *dockerfile.Instruction) *step {
	st := &step{r: r, op: op, ins: ins}
	if base := baseOf(r, op); base != nil {
		st.host, st.base = base.Platform, base.Ref
	}
	run := r.Ops[op].Run
	if st.script = s.texts.Follow(run.Args, run.Env, workdir(r, op, ins, st.base)); st.script != nil {
		st.calls = st.script.Calls
	}
	return st
}

// under is the operation whose tree an operation works on, Scratch at the end.
func under(r *dockerfile.Recipe, op int) int {
	switch o := r.Ops[op]; o.Kind {
	case dockerfile.KindFile:
		return o.File.Parent
	case dockerfile.KindRun:
		return o.Run.Parent
	case dockerfile.KindMerge:
		return o.Inputs[0]
	}
	return dockerfile.Scratch
}

// baseOf is the image that an operation's tree began with, nil for scratch.
func baseOf(r *dockerfile.Recipe, op int) *dockerfile.Base {
	for at := op; at != dockerfile.Scratch; at = under(r, at) {
		if r.Ops[at].Base != nil {
			return r.Ops[at].Base
		}
	}
	return nil
}

// on reports whether op's tree has what an earlier operation did.
func on(r *dockerfile.Recipe, op, earlier int) bool {
	for at := op; at != dockerfile.Scratch; at = under(r, at) {
		if at == earlier {
			return true
		}
	}
	return false
}

// workdir is the directory that a RUN starts in: that of the last WORKDIR, which
// makes it, or what the base says. Of bases only golang's is known.
func workdir(r *dockerfile.Recipe, op int, ins *dockerfile.Instruction, base string) string {
	last := scope{r.File, ins}.last("WORKDIR")
	if last == nil {
		if golang(base) {
			return "/go"
		}
		return "/"
	}
	if w := words(last.Text); len(w) > 1 && path.Clean(w[1]) == "/" {
		return "/" // which is there, so nothing makes it
	}
	for at := under(r, op); at != dockerfile.Scratch; at = under(r, at) {
		if f := r.Ops[at].File; f != nil && len(f.Actions) == 1 && f.Actions[0].Mkdir != nil {
			return f.Actions[0].Mkdir.Path
		}
	}
	return "/"
}

// last is the last instruction of a kind that counts where c stands.
func (c scope) last(keyword string) *dockerfile.Instruction {
	before := c.ins.Range.Start.Line
	for stage, seen := c.ins.Stage, map[int]bool{}; stage >= 0 && !seen[stage]; {
		seen[stage] = true
		list := c.f.Stages[stage].Instructions
		for i := range slices.Backward(list) {
			if list[i].Keyword == keyword && !list[i].OnBuild && list[i].Range.Start.Line < before {
				return &list[i]
			}
		}
		parents := c.parents(stage)
		if len(parents) != 1 {
			return nil
		}
		stage, before = parents[0], len(c.f.Data)+2
	}
	return nil
}

// golang reports whether a base is an image of the Go toolchain by its name.
func golang(ref string) bool {
	name := path.Base(ref)
	if i := strings.IndexAny(name, ":@"); i >= 0 {
		name = name[:i]
	}
	return name == "golang"
}

// pinned reports whether a step runs on one platform whatever is built: on some
// platform of the image its base is another's.
func (s *state) pinned(st *step) bool {
	return slices.ContainsFunc(s.steps(), func(o *step) bool {
		return sameText(o.ins, st.ins) && o.host.Arch != "" && o.host.Arch != o.r.Platform.Arch
	})
}

// archCount counts the architectures of platforms.
func archCount(list []platform.Platform) int {
	var seen []string
	for _, p := range list {
		if !slices.Contains(seen, p.Arch) {
			seen = append(seen, p.Arch)
		}
	}
	return len(seen)
}

// grouped is what stands on one instruction, in the order of the recipes.
func grouped[T any](list []T, ins func(T) *dockerfile.Instruction) [][]T {
	var groups [][]T
next:
	for _, t := range list {
		for i, g := range groups {
			if sameText(ins(g[0]), ins(t)) {
				groups[i] = append(g, t)
				continue next
			}
		}
		groups = append(groups, []T{t})
	}
	return groups
}
