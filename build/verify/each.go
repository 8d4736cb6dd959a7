package verify

import (
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// each makes a check of a judgement on single sources. What is wrong with the
// sources of one instruction is one finding, for which tell finds the words, and
// edit, if given, what --fix does.
func each(wrong func(*state, *take) bool, tell func(*state, []*take) (message, fix string), edit ...func(*state, []*take) []Edit) func(*state) []Finding {
	return func(s *state) []Finding {
		var found []*take
		for _, t := range s.takes {
			if !t.claimed && wrong(s, t) {
				found = append(found, t)
			}
		}
		s.claim(found)
		var list []Finding
		for _, group := range byInstruction(found) {
			f := s.at(group[0].r, group[0].ins)
			f.Platforms = platformsOf(group)
			f.Message, f.Fix = tell(s, group)
			for _, edits := range edit {
				f.Edits = edits(s, group)
			}
			list = append(list, f)
		}
		return list
	}
}

// claim takes sources from the rules that follow, on every platform.
func (s *state) claim(list []*take) {
	for _, t := range s.takes {
		t.claimed = t.claimed || slices.ContainsFunc(list, func(o *take) bool { return o.source == t.source && sameText(o.ins, t.ins) })
	}
}

// sameText reports whether two recipes mean the same instruction.
func sameText(a, b *dockerfile.Instruction) bool { return a.Range == b.Range && a.Text == b.Text }

// byInstruction groups sources by the instruction they stand in, in order.
func byInstruction(list []*take) [][]*take {
	var groups [][]*take
next:
	for _, t := range list {
		for i, g := range groups {
			if sameText(g[0].ins, t.ins) {
				groups[i] = append(g, t)
				continue next
			}
		}
		groups = append(groups, []*take{t})
	}
	return groups
}

// at is a finding that stands on an instruction: of a trigger, on the ONBUILD
// where this file has it.
func (s *state) at(r *dockerfile.Recipe, ins *dockerfile.Instruction) Finding {
	if from := onBuild(r.File, ins); from != nil {
		ins = from
	}
	return Finding{File: r.Dockerfile, Start: ins.Range.Start, End: ins.Range.End}
}

func platformsOf(list []*take) []platform.Platform {
	var out []platform.Platform
	for _, t := range list {
		if !slices.Contains(out, t.r.Platform) {
			out = append(out, t.r.Platform)
		}
	}
	return out
}

// first lists one take for each different source as written.
func first(list []*take) []*take {
	var out []*take
	for _, t := range list {
		if !slices.ContainsFunc(out, func(o *take) bool { return o.source == t.source }) {
			out = append(out, t)
		}
	}
	return out
}

// whoCopies says platform by platform what is copied: "linux/amd64 and
// linux/arm64 copy bin/app".
func whoCopies(list []*take, what func(*take) string) string {
	var platforms []platform.Platform
	files := map[platform.Platform][]string{}
	for _, t := range list {
		p := t.r.Platform
		if files[p] == nil {
			platforms = append(platforms, p)
		}
		if w := what(t); !slices.Contains(files[p], w) {
			files[p] = append(files[p], w)
		}
	}
	var texts []string
	var who []platform.Platform
	for i, p := range platforms {
		who = append(who, p)
		if i+1 < len(platforms) && slices.Equal(files[p], files[platforms[i+1]]) {
			continue
		}
		verb := " copy "
		if len(who) == 1 {
			verb = " copies "
		}
		texts = append(texts, names(who)+verb+and(files[p]))
		who = nil
	}
	return strings.Join(texts, ", ")
}

func itsPath(t *take) string { return t.path }

func names(list []platform.Platform) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.String()
	}
	return and(texts)
}

func and(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
