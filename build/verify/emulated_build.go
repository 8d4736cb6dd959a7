package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/verify/shell"
)

// emulatedBuild is EmulatedBuild: one finding for each stage, on what compiles
// there first. A stage that needs a C compiler is left alone, since that would
// have to be another one.
func emulatedBuild(s *state) []Finding {
	if archCount(s.platforms()) < 2 {
		return nil
	}
	var found []compilation
	for _, st := range s.steps() {
		if st.host.Arch != st.r.Platform.Arch || s.pinned(st) || s.needsC(st) {
			continue
		}
		for _, c := range s.compiles(st) {
			if c.call.Hears["CGO_ENABLED"].Text != "1" {
				found = append(found, c)
				break
			}
		}
	}
	var list []Finding
	for _, group := range oneOfStage(grouped(found, func(c compilation) *dockerfile.Instruction { return c.ins })) {
		c := group[0]
		p := platformsOfCompiles(group)
		if archCount(p) < 2 {
			continue
		}
		f := s.at(c.r, c.ins)
		f.Platforms = p
		f.Message = fmt.Sprintf("%s runs once on each of %s: all but the machine's own are emulated", c.built(), names(p))
		f.Fix = s.onBuildPlatform(c)
		list = append(list, f)
	}
	return list
}

// oneOfStage keeps for each stage what is built there, or else what is installed.
func oneOfStage(groups [][]compilation) [][]compilation {
	var list [][]compilation
	for _, g := range groups {
		at := slices.IndexFunc(list, func(o []compilation) bool { return o[0].ins.Stage == g[0].ins.Stage })
		switch {
		case at < 0:
			list = append(list, g)
		case list[at][0].verb != "build" && g[0].verb == "build":
			list[at] = g
		}
	}
	return list
}

// cTools are packages that a stage installs to compile C.
var cTools = []string{"gcc", "g++", "build-base", "build-essential", "musl-dev", "libc6-dev", "clang", "cmake"}

// needsC reports whether a step, or what it stands on, installs a C compiler or
// turns cgo on for good.
func (s *state) needsC(st *step) bool {
	if slices.Contains(st.r.Ops[st.op].Run.Env, "CGO_ENABLED=0") {
		return false
	}
	return slices.ContainsFunc(s.steps(), func(o *step) bool {
		return o.r == st.r && on(st.r, st.op, o.op) && slices.ContainsFunc(o.calls, func(c shell.Call) bool {
			return slices.Contains([]string{"apk", "apt-get", "apt", "dnf", "yum", "microdnf"}, c.Name()) &&
				slices.ContainsFunc(c.Args, func(a shell.Value) bool { return slices.Contains(cTools, a.Text) })
		})
	})
}

// onBuildPlatform is the stage as it should begin, and the RUN.
func (s *state) onBuildPlatform(c compilation) string {
	run := c.ins.Text
	if c.arch.Text == "" && !c.arch.Open {
		run = c.hear(false, s.delivered(c))
	}
	root := rootStage(c.step)
	if strings.Contains(root.From.Text, "\n") || s.inFinalStage(c.step) {
		return "compile in a stage of its own: FROM --platform=$BUILDPLATFORM … AS build\n" + run
	}
	old := strings.Join(words(root.From.Text), " ")
	new := []string{"FROM", "--platform=$BUILDPLATFORM"}
	for _, w := range words(root.From.Text)[1:] {
		if !strings.HasPrefix(w, "--platform") {
			new = append(new, w)
		}
	}
	return strings.Join(new, " ") + " instead of " + old + "\n" + run
}
