package verify

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// hole is a source of a COPY or ADD in which platform arguments have no value.
type hole struct {
	r      *dockerfile.Recipe
	ins    *dockerfile.Instruction
	source int
	take   *take // nil where it is not from the context
	in     []used
}

// undeclared is TargetArchUndeclared. A source that comes from another stage has
// a hole as well; what makes none is a variable that has no value anyway, or a
// path that is the platform's binary without it.
func undeclared(s *state) []Finding {
	var holes []hole
	for _, r := range s.judged() {
		for i := range r.File.Stages {
			if r.File.Stages[i].Reachable {
				holes = append(holes, s.holes(r, r.File.Stages[i].Instructions)...)
			}
		}
	}
	var list []Finding
	for len(holes) > 0 {
		group := slices.Clone(holes[:1])
		holes = slices.DeleteFunc(holes[1:], func(h hole) bool {
			same := sameText(h.ins, group[0].ins)
			if same {
				group = append(group, h)
			}
			return same
		})
		list = append(list, s.tellHole(group))
	}
	return list
}

func (s *state) holes(r *dockerfile.Recipe, list []dockerfile.Instruction) []hole {
	var holes []hole
	for k := range list {
		ins := &list[k]
		if !copies(ins) {
			continue
		}
		for i, source := range ins.Sources {
			h := hole{r: r, ins: ins, source: i, take: s.takeAt(r, ins, i)}
			for _, u := range uses(r.File, ins, source) {
				if undefined(r, u.in, u.name) && empty(u.text, u.name, r.Platform) {
					h.in = append(h.in, u)
				}
			}
			if len(h.in) == 0 || h.take != nil && s.bin.makes(h.take.path, r.Platform) {
				continue
			}
			if h.take != nil {
				s.claim([]*take{h.take})
			}
			holes = append(holes, h)
		}
	}
	return holes
}

func (s *state) takeAt(r *dockerfile.Recipe, ins *dockerfile.Instruction, source int) *take {
	for _, t := range s.takes {
		if t.r == r && t.ins == ins && t.source == source {
			return t
		}
	}
	return nil
}

func (s *state) tellHole(group []hole) Finding {
	f := s.at(group[0].r, group[0].ins)
	var names, fixes []string
	var takes []*take
	for _, h := range group {
		if !slices.Contains(f.Platforms, h.r.Platform) {
			f.Platforms = append(f.Platforms, h.r.Platform)
		}
		if h.take != nil {
			takes = append(takes, h.take)
		}
		for _, u := range h.in {
			if !slices.Contains(names, u.name) {
				names = append(names, u.name)
				fixes = append(fixes, declare(h.r.File, u))
			}
		}
	}
	verb := "has no value here, since no ARG in this stage declares it"
	if len(names) > 1 {
		verb = "have no value here, since no ARG in this stage declares them"
	}
	f.Message = and(names) + " " + verb + ": " + whatHoles(group, takes, f.Platforms)
	f.Fix = strings.Trim(strings.Join(fixes, "\n"), "\n")
	if len(takes) > 0 && s.inImage(takes[0]) && slices.ContainsFunc(names, forBuild) {
		f.Fix = s.rewrite(takes, forTarget)
		f.Edits = s.editSources(takes, forTarget)
	} else {
		f.Edits = editHoles(group)
	}
	return f
}

// forBuild finds the arguments of the platform that builds, which is not the one
// that an image's files are for.
func forBuild(name string) bool { return strings.HasPrefix(name, "BUILD") }

// forTarget is a source with the arguments of the image's platform instead.
func forTarget(t *take) []target {
	source := t.written()
	for _, name := range variables(source) {
		if isAutomatic(name) && forBuild(name) {
			source = strings.ReplaceAll(source, name, "TARGET"+strings.TrimPrefix(name, "BUILD"))
		}
	}
	if source == t.written() {
		return nil
	}
	return []target{{source, strings.TrimRight(strings.TrimSuffix(strings.TrimRight(path.Base(t.path), "-_."), "linux"), "-_.")}}
}

// whatHoles says what is copied, or what was meant to be.
func whatHoles(group []hole, takes []*take, platforms []platform.Platform) string {
	if len(takes) == len(group) {
		return whoCopies(takes, itsPath)
	}
	h := group[0]
	return fmt.Sprintf("%s is copied without on %s", h.ins.Sources[h.source], names(platforms))
}

// declare says where the ARG is missing: after the FROM of the stage.
func declare(f *dockerfile.File, u used) string {
	if u.in.OnBuild {
		return "" // the file of the base says what it copies
	}
	from := f.Stages[u.in.Stage].From
	return fmt.Sprintf("after line %d (%s): ARG %s", from.Range.End.Line, strings.Join(words(from.Text), " "), u.name)
}
