package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// deaf is a compilation that does not hear its target.
type deaf struct {
	compilation
	files []string // that are in the image
}

// fromSourceHostArch is FromSourceHostArch. A stage that is pinned to one
// platform compiles for that one unless it is told another, so of two
// architectures that get the result one at least is wrong.
func fromSourceHostArch(s *state) []Finding {
	var found []deaf
	for _, st := range s.steps() {
		if archCount(s.platforms()) < 2 || !s.pinned(st) || s.inFinalStage(st) {
			continue
		}
		all := s.compiles(st)
		for _, c := range all {
			if c.call.Cond || !c.linux() || !c.hearsHost() {
				continue
			}
			if c.call.Maybe && !sameInEveryBranch(all) {
				continue
			}
			if files := s.delivered(c); len(files) > 0 {
				found = append(found, deaf{c, files})
			}
		}
	}
	var list []Finding
	for _, group := range grouped(found, func(d deaf) *dockerfile.Instruction { return d.ins }) {
		if slices.ContainsFunc(group, func(d deaf) bool { return d.base != group[0].base }) {
			continue // a base for each platform may say what it compiles for
		}
		if f := s.tellDeaf(group); archCount(f.Platforms) > 1 {
			list = append(list, f)
		}
	}
	return append(list, s.deafScripts(list)...)
}

// sameInEveryBranch reports whether all that a step compiles hears the same: if
// not, a condition that means nothing here may tell platforms apart.
func sameInEveryBranch(all []compilation) bool {
	return !slices.ContainsFunc(all, func(c compilation) bool {
		return c.call.Cond || c.arch.Open || c.arch.Text != all[0].arch.Text
	})
}

// inFinalStage reports whether a step's tree is the image's own: there the base
// is the wrong one already.
func (s *state) inFinalStage(st *step) bool {
	return st.r.Result != dockerfile.Scratch && on(st.r, st.r.Result, st.op)
}

// hearsHost reports whether GOARCH is known to be that of the toolchain: nothing
// sets it, it is made of a platform argument without a value, or of those of the
// build platform.
func (c compilation) hearsHost() bool {
	if c.arch.Open {
		return false
	}
	for _, name := range c.arch.Vars {
		if isAutomatic(name) && !forBuild(name) && !missingIn(c.step, name) {
			return false // a default is PlatformArgDefault's, and on this platform it may be empty
		}
	}
	switch {
	case c.arch.Text == "":
		return !c.leftToCaller()
	case slices.ContainsFunc(c.arch.Vars, func(n string) bool { return n == "BUILDARCH" }):
		return c.arch.Text == c.host.Arch
	}
	return slices.ContainsFunc(c.arch.Vars, func(n string) bool { return isAutomatic(n) && missingIn(c.step, n) })
}

// leftToCaller is an empty GOARCH made of an ARG that has no default: whoever
// builds may give it a value.
func (c compilation) leftToCaller() bool {
	return slices.ContainsFunc(appendNew(c.arch.Vars, "GOARCH"), func(name string) bool {
		return byCaller(c.r.File, c.ins, name, mostHops)
	})
}

// mostHops is how far a value is followed from one variable to the next.
const mostHops = 8

// byCaller reports whether a variable's value comes from an ARG that only says
// that there is one.
func byCaller(f *dockerfile.File, ins *dockerfile.Instruction, name string, depth int) bool {
	def := scope{f, ins}.definition(name)
	if isAutomatic(name) || def == nil || depth == 0 {
		return false
	}
	from, text := definition(f, ins, name)
	if from == nil {
		return def.Keyword == "ARG"
	}
	return slices.ContainsFunc(variables(text), func(n string) bool { return n != name && byCaller(f, from, n, depth-1) })
}

// missingIn reports whether a platform argument has no value in a RUN.
func missingIn(st *step, name string) bool {
	return !slices.ContainsFunc(st.r.Ops[st.op].Run.Env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
}

func (s *state) tellDeaf(group []deaf) Finding {
	d := group[0]
	f := s.at(d.r, d.ins)
	for _, g := range group {
		if !slices.Contains(f.Platforms, g.r.Platform) {
			f.Platforms = append(f.Platforms, g.r.Platform)
		}
	}
	what, fix := d.hearing(d.files)
	f.Message = fmt.Sprintf("%s: %s get the same %s, %s", what, names(f.Platforms), few(d.files), s.forWhat(d.step))
	f.Fix = fix
	return f
}

// hearing says what the toolchain hears, and what to write.
func (c compilation) hearing(files []string) (what, fix string) {
	for _, name := range c.through() {
		if !isAutomatic(name) || forBuild(name) || !missingIn(c.step, name) {
			continue
		}
		is := "empty"
		if c.arch.Text != "" {
			is = c.arch.Text
		}
		return fmt.Sprintf("GOARCH is %s for %s, since no ARG in this stage declares %s", is, c.built(), name),
			declare(c.r.File, used{name: name, in: c.ins})
	}
	if c.arch.Text != "" {
		return fmt.Sprintf("%s hears GOARCH=%s, the architecture of the build platform", c.built(), c.arch.Text), c.hear(true, files)
	}
	return c.built() + " hears no GOARCH", c.hear(false, files)
}

// through are the variables that GOARCH is made of, also by ENV and ARG.
func (c compilation) through() []string {
	list := c.arch.Vars
	for _, name := range append(slices.Clip(list), "GOARCH") {
		if def, text := definition(c.r.File, c.ins, name); def != nil && !isAutomatic(name) {
			for _, u := range uses(c.r.File, def, text) {
				list = appendNew(list, u.name)
			}
		}
	}
	return list
}

// forWhat is what a program compiled in a step is for.
func (s *state) forWhat(st *step) string {
	if rootStage(st).HostBound {
		return "a program for the machine that builds"
	}
	return "a program for " + st.host.Arch
}

// rootStage is the stage of this file whose base image a step runs on.
func rootStage(st *step) *dockerfile.Stage {
	stage := &st.r.File.Stages[st.ins.Stage]
	for stage.Parent >= 0 && stage.Parent < len(st.r.File.Stages) {
		stage = &st.r.File.Stages[stage.Parent]
	}
	return stage
}

// insteadOfInstall is what works for every platform: go install has another
// directory for what is not for its own, and refuses GOBIN.
func insteadOfInstall(file string) string {
	return "GOARCH=${TARGETARCH} go build -o " + file + " instead of go install, which puts programs for another platform elsewhere"
}

// hear is the instruction with GOARCH in it, after the ARG that it needs.
func (c compilation) hear(host bool, files []string) string {
	text, ok := hearTarget(c.ins.Text, host)
	var lines []string
	if (scope{c.r.File, c.ins}).definition("TARGETARCH") == nil {
		lines = append(lines, "ARG TARGETARCH")
	}
	if c.verb == "install" && len(files) > 0 {
		return strings.Join(append(lines, insteadOfInstall(files[0])), "\n")
	}
	if !ok {
		lines = append(lines, "ENV GOARCH=${TARGETARCH}")
	}
	return strings.Join(append(lines, text), "\n")
}
