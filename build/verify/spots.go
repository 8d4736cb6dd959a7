package verify

import (
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// spot is an instruction that one platform's recipe is wrong at.
type spot struct {
	r    *dockerfile.Recipe
	ins  *dockerfile.Instruction
	what string // happens there
}

// bySpot groups what is wrong at one instruction, in order.
func bySpot(list []spot) [][]spot {
	var groups [][]spot
next:
	for _, p := range list {
		for i, g := range groups {
			if sameText(g[0].ins, p.ins) {
				groups[i] = append(g, p)
				continue next
			}
		}
		groups = append(groups, []spot{p})
	}
	return groups
}

// found is the finding of one group: the message says platform by platform what
// happens, joined with a verb in the singular and in the plural.
func (s *state) found(group []spot, one, many string) Finding {
	f := s.at(group[0].r, group[0].ins)
	for _, p := range group {
		if !slices.Contains(f.Platforms, p.r.Platform) {
			f.Platforms = append(f.Platforms, p.r.Platform)
		}
	}
	f.Message = told(group, one, many)
	return f
}

// told is "linux/amd64 gets x, linux/arm64 and linux/s390x get y and z".
func told(group []spot, one, many string) string {
	var order []platform.Platform
	whats := map[platform.Platform][]string{}
	for _, p := range group {
		at := p.r.Platform
		if whats[at] == nil {
			order = append(order, at)
		}
		if !slices.Contains(whats[at], p.what) {
			whats[at] = append(whats[at], p.what)
		}
	}
	var texts []string
	for len(order) > 0 {
		what, verb := and(whats[order[0]]), many
		var who, rest []platform.Platform
		for _, p := range order {
			if and(whats[p]) == what {
				who = append(who, p)
			} else {
				rest = append(rest, p)
			}
		}
		if len(who) == 1 {
			verb = one
		}
		texts = append(texts, names(who)+" "+verb+" "+what)
		order = rest
	}
	return strings.Join(texts, ", ")
}

// root is the stage whose FROM names what the image is built on, through the
// stages of the file; nil where that is scratch, or another front end's affair.
func root(r *dockerfile.Recipe) *dockerfile.Stage {
	if len(r.File.Stages) == 0 {
		return nil
	}
	i := r.Stage
	for parent := r.File.Stages[i].Parent; parent >= 0 && parent < i; parent = r.File.Stages[i].Parent {
		i = parent
	}
	if st := &r.File.Stages[i]; st.Expanded != "scratch" {
		return st
	}
	return nil
}

// oneLine is an instruction without continuations and comments, each word
// changed by edit; "" leaves a word out.
func oneLine(ins *dockerfile.Instruction, edit func(string) string) string {
	var list []string
	for _, w := range words(ins.Text) {
		if w = edit(w); w != "" {
			list = append(list, w)
		}
	}
	return strings.Join(list, " ")
}
