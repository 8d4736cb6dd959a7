package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// archByBuildArg is ArchByBuildArg: the file is right for a caller that gives
// the argument, or the context, anew for each platform. A path in the directory
// of binaries is none of that: archmage is the caller, and has one value for
// all platforms.
func archByBuildArg(s *state) []Finding {
	list := s.tellArguments(slices.Concat(s.argumentCopies(), s.argumentBases(), s.argumentRuns()))
	return append(list, s.tellReleaser()...)
}

// callerDecides reports whether a build argument says which architecture a
// source is of.
func (s *state) callerDecides(t *take) bool {
	return s.outside(t.path) && len(deciders(t.r.File, t.ins, t.written())) > 0
}

// outside reports whether a path is none of a binary that archmage makes.
func (s *state) outside(file string) bool {
	name, _, form := s.bin.parse(file)
	return !s.bin.contains(file) && !(form && s.bin.command(name))
}

// argued is a spot, with the arguments that decide it.
type argued struct {
	spot
	by []decider
}

// argumentCopies are the sources of COPY and ADD, from the context or from a
// stage, in which an argument says another architecture than the platform's, or
// none.
func (s *state) argumentCopies() []argued {
	var list []argued
	for _, t := range s.takes {
		if by := deciders(t.r.File, t.ins, t.written()); !t.claimed && s.outside(t.path) && amiss(t.path, by, t.r.Platform) && s.inImage(t) {
			list = append(list, argued{spot{t.r, t.ins, t.path}, by})
		}
	}
	for _, r := range s.judged() {
		for i, op := range r.Ops {
			if op.File == nil || !r.ReachesResult(i) {
				continue
			}
			for k, a := range op.File.Actions {
				for _, at := range op.Ranges {
					ins := instructionOf(r.File, at, k, a.Copy)
					if ins == nil || ins.From == "" || a.Copy == nil {
						continue
					}
					if by := deciders(r.File, ins, ins.Sources[k]); amiss(a.Copy.Src, by, r.Platform) {
						list = append(list, argued{spot{r, ins, a.Copy.Src}, by})
					}
				}
			}
		}
	}
	return list
}

// amiss reports whether what arguments decide is not the platform's.
func amiss(path string, by []decider, p platform.Platform) bool {
	if len(by) == 0 {
		return false
	}
	at := named(path)
	return foreign(at, p) ||
		len(at) == 0 && slices.ContainsFunc(by, func(d decider) bool { return d.value == "" })
}

// argumentBases are the FROMs of another architecture than they ask for, but for
// those of the machine that builds.
func (s *state) argumentBases() []argued {
	var list []argued
	for _, r := range s.judged() {
		for i := range r.File.Stages {
			st := &r.File.Stages[i]
			if !st.Reachable || st.HostBound {
				continue
			}
			if by := deciders(r.File, inFrom(st), st.Base); amiss(st.Expanded, by, st.For) {
				list = append(list, argued{spot{r, &st.From, st.Expanded}, by})
			}
		}
	}
	return list
}

// argumentRuns are the RUNs that compile for the machine that builds, or call
// something with a hole in its words, unless an argument has a value.
func (s *state) argumentRuns() []argued {
	var list []argued
	for _, st := range s.steps() {
		if archCount(s.platforms()) < 2 {
			return nil
		}
		add := func(vars []string, what string) {
			for _, name := range vars {
				if archName.MatchString(name) && missingIn(st, name) && byCaller(st.r.File, st.ins, name, mostHops) && !strings.Contains(st.ins.Text, "${"+name+":") {
					list = append(list, argued{spot{st.r, st.ins, what}, []decider{{name: name, via: name}}})
				}
			}
		}
		for _, c := range s.compiles(st) {
			if s.pinned(st) && !c.call.Cond && c.arch.Text == "" && !c.arch.Open && c.leftToCaller() && len(s.delivered(c)) > 0 {
				add(appendNew(c.arch.Vars, "GOARCH"), c.built()+" for the machine that builds")
			}
		}
		for i := range st.calls {
			for _, a := range st.calls[i].Args {
				if !st.calls[i].Cond && !a.Open {
					add(a.Vars, st.calls[i].Name()+" "+a.Text)
				}
			}
		}
	}
	return list
}

func (s *state) tellArguments(list []argued) []Finding {
	var spots []spot
	for _, a := range list {
		spots = append(spots, a.spot)
	}
	var out []Finding
	for _, group := range bySpot(spots) {
		var by []decider
		for _, a := range list {
			if sameText(a.ins, group[0].ins) {
				by = append(by, a.by...)
			}
		}
		one, many := "copies", "copy"
		switch group[0].ins.Keyword {
		case "FROM":
			one, many = "is built on", "are built on"
		case "RUN":
			one, many = "runs", "run"
		}
		f := s.found(group, one, many)
		f.Message += ", unless the caller sets " + argumentNames(by)
		f.Fix = s.argumentFix(group[0], by)
		out = append(out, f)
	}
	return out
}

// argumentFix is the instruction with the platform's architecture, and the ARG
// that it lacks: none in a FROM, which knows the platform.
func (s *state) argumentFix(at spot, by []decider) string {
	if at.ins.OnBuild || strings.Contains(at.ins.Text, "<<") {
		return ""
	}
	text := oneLine(at.ins, func(w string) string { return byPlatform(w, by) })
	switch {
	case !strings.Contains(text, "${TARGETARCH}"):
		return ""
	case at.ins.Keyword == "FROM", scope{at.r.File, at.ins}.definition("TARGETARCH") != nil:
		return text
	}
	return "ARG TARGETARCH\n" + text
}

// tellReleaser are the COPYs of what goreleaser alone puts into the context.
func (s *state) tellReleaser() []Finding {
	var made []*take
	for _, t := range s.elsewhere {
		if s.releasers(t) {
			made = append(made, t)
		}
	}
	var list []Finding
	for _, group := range byInstruction(made) {
		f := s.at(group[0].r, group[0].ins)
		f.Platforms = platformsOf(group)
		f.Message = whoCopies(group, itsPath) + ", which goreleaser chooses: " + s.releaserFile() + " builds this file in a context of its own"
		list = append(list, f)
	}
	return list
}

// releasers reports whether a source is a binary in goreleaser's context: named
// like a command, or not in the repository.
func (s *state) releasers(t *take) bool {
	if t.whole() || document(t.path) || !s.inImage(t) {
		return false
	}
	return s.bin.command(path.Base(t.path)) || s.files.program(t.path) != "" || len(s.files.match(t.path)) == 0
}
