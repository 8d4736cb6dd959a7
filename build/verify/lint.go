package verify

import (
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// lint makes findings of BuildKit's warnings, with its words. Those on a stage
// that the image does not need are left out, as is what only a base could tell.
func (s *state) lint() []Finding {
	var groups []*lintGroup
	for _, r := range s.judged() {
		for _, w := range r.Warnings {
			at := lintPlace(r.File, w)
			if !unjudged(r.File, at.Start.Line) && !baseMaySet(r, at, w) {
				groups = put(groups, r, w, at)
			}
		}
	}
	var list []Finding
	for _, g := range groups {
		list = append(list, g.findings()...)
	}
	return list
}

// lintGroup is what one of BuildKit's rules says of one place.
type lintGroup struct {
	first     Finding
	platforms []platform.Platform
	messages  []lintMessage
}

type lintMessage struct {
	text      string
	platforms []platform.Platform
}

func put(groups []*lintGroup, r *dockerfile.Recipe, w dockerfile.Warning, at dockerfile.Range) []*lintGroup {
	at.Start.Column, at.End.Column = max(1, at.Start.Column), max(1, at.End.Column)
	i := slices.IndexFunc(groups, func(g *lintGroup) bool {
		return g.first.Rule == w.Rule && g.first.Start == at.Start && g.first.End == at.End
	})
	if i < 0 {
		i = len(groups)
		groups = append(groups, &lintGroup{first: Finding{
			Rule: w.Rule, Severity: Warning, File: r.Dockerfile, Start: at.Start, End: at.End, URL: w.URL,
		}})
	}
	groups[i].add(r.Platform, w.Message)
	return groups
}

func (g *lintGroup) add(p platform.Platform, text string) {
	g.platforms = appendNew(g.platforms, p)
	i := slices.IndexFunc(g.messages, func(m lintMessage) bool { return m.text == text })
	if i < 0 {
		i = len(g.messages)
		g.messages = append(g.messages, lintMessage{text: text})
	}
	g.messages[i].platforms = appendNew(g.messages[i].platforms, p)
}

// appendNew appends what a list does not have. It never writes behind the list.
func appendNew[T comparable](list []T, more ...T) []T {
	for _, one := range more {
		if !slices.Contains(list, one) {
			list = append(slices.Clip(list), one)
		}
	}
	return list
}

// findings is one for each message that all platforms share, and one for all
// that differ, such as the name of a file that holds the architecture.
func (g *lintGroup) findings() []Finding {
	var list []Finding
	var texts []string
	var differ []platform.Platform
	for _, m := range g.messages {
		if len(m.platforms) < len(g.platforms) {
			texts = append(texts, m.text)
			for _, p := range m.platforms {
				differ = appendNew(differ, p)
			}
			continue
		}
		f := g.first
		f.Message, f.Platforms = m.text, m.platforms
		list = append(list, f)
	}
	if len(texts) == 0 {
		return list
	}
	f := g.first
	f.Message = strings.Join(texts, "; ")
	for _, p := range g.platforms { // in the order of the recipes
		if slices.Contains(differ, p) {
			f.Platforms = append(f.Platforms, p)
		}
	}
	return append(list, f)
}

// lintPlace is where a warning stands; one without a place stands on the first
// instruction.
func lintPlace(f *dockerfile.File, w dockerfile.Warning) dockerfile.Range {
	if n := len(w.Ranges); n > 0 && w.Ranges[0].Start.Line > 0 {
		return dockerfile.Range{Start: w.Ranges[0].Start, End: w.Ranges[n-1].End}
	}
	switch {
	case len(f.Global) > 0:
		return f.Global[0].Range
	case len(f.Stages) > 0:
		return f.Stages[0].From.Range
	}
	return dockerfile.Range{Start: dockerfile.Position{Line: 1, Column: 1}, End: dockerfile.Position{Line: 1, Column: 1}}
}

// unjudged reports whether a line lies in a stage that the image does not need.
func unjudged(f *dockerfile.File, line int) bool {
	i := stageAt(f, line)
	return i >= 0 && !f.Stages[i].Reachable
}

// stageAt is the stage that a line lies in, -1 before the first FROM.
func stageAt(f *dockerfile.File, line int) int {
	stage := -1
	for i := range f.Stages {
		if f.Stages[i].From.Range.Start.Line <= line {
			stage = i
		}
	}
	return stage
}

// baseMaySet reports whether an undefined variable may be one that the base
// sets, as golang does with GOPATH. A base that nobody asked for may set any,
// but for those of the platform, those that this file declares where they do
// not count, and those that are a misspelling of one that it sets.
func baseMaySet(r *dockerfile.Recipe, at dockerfile.Range, w dockerfile.Warning) bool {
	name, near := undefinedVar(w.Message)
	if w.Rule != "UndefinedVar" || isAutomatic(name) || declared(r.File, "ARG", name) ||
		near != "PATH" && (declared(r.File, "ARG", near) || declared(r.File, "ENV", near)) {
		return false
	}
	unknown := len(r.Ops) == 0 || slices.ContainsFunc(r.Ops, func(op dockerfile.Op) bool { return op.Base != nil && op.Base.Digest == "" })
	return unknown && !fromScratch(r.File, stageAt(r.File, at.Start.Line))
}

// undefinedVar is the variable that BuildKit's UndefinedVar names, and the one
// that it suggests.
func undefinedVar(message string) (name, near string) {
	_, rest, _ := strings.Cut(message, "'$")
	name, rest, _ = strings.Cut(rest, "'")
	_, near, _ = strings.Cut(rest, "(did you mean $")
	near, _, _ = strings.Cut(near, "?)")
	return name, near
}

// declared reports whether an ARG or ENV of the file sets a variable.
func declared(f *dockerfile.File, keyword, name string) bool {
	is := func(ins dockerfile.Instruction) bool { return name != "" && ins.Keyword == keyword && sets(&ins, name) }
	return slices.ContainsFunc(f.Global, is) ||
		slices.ContainsFunc(f.Stages, func(st dockerfile.Stage) bool { return slices.ContainsFunc(st.Instructions, is) })
}

// fromScratch reports whether a stage has no base image, through stages of the
// file.
func fromScratch(f *dockerfile.File, stage int) bool {
	for stage >= 0 {
		base := f.Stages[stage].Base
		if strings.EqualFold(base, "scratch") {
			return true
		}
		parent := -1
		for i, st := range f.Stages[:stage] {
			if st.Name != "" && st.Name == base {
				parent = i
			}
		}
		stage = parent
	}
	return false
}

// same lists which of our rules say what one of BuildKit's says.
func same(rule string) []string {
	switch rule {
	case "UndefinedVar":
		return []string{"TargetArchUndeclared"}
	case "CopyIgnoredFile":
		return []string{"IgnoredBinary"}
	case "FromPlatformFlagConstDisallowed":
		return []string{"BuildPlatformBase"}
	case "InvalidBaseImagePlatform":
		return []string{"BaseLacksPlatform", "SinglePlatformDigest", "BuildPlatformBase"}
	case "JSONArgsRecommended":
		return []string{"ShellFormNoShell"}
	}
	return nil
}

// unsaid leaves out what ours say of the same instruction.
func unsaid(lint, ours []Finding) []Finding {
	return slices.DeleteFunc(lint, func(l Finding) bool {
		return slices.ContainsFunc(ours, func(f Finding) bool {
			return slices.Contains(same(l.Rule), f.Rule) && f.File == l.File &&
				f.Start.Line <= l.End.Line && l.Start.Line <= f.End.Line && about(l, f)
		})
	})
}

// about reports whether ours is about what theirs names: a variable of the
// platform, the same files.
func about(theirs, ours Finding) bool {
	switch theirs.Rule {
	case "UndefinedVar":
		name, _ := undefinedVar(theirs.Message)
		return isAutomatic(name)
	case "CopyIgnoredFile":
		for i, text := range strings.Split(theirs.Message, `"`) {
			if i%2 == 1 && !strings.Contains(ours.Message, text) {
				return false
			}
		}
	}
	return true
}
