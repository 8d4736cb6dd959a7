package verify

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// automatic gives the value that BuildKit sets for a platform argument when it
// builds for p, and whether it can be known: those of the build platform depend
// on the machine. ok is false for other names.
func automatic(name string, p platform.Platform) (value string, known, ok bool) {
	switch name {
	case "TARGETPLATFORM":
		return p.String(), true, true
	case "TARGETOS":
		return p.OS, true, true
	case "TARGETARCH":
		return p.Arch, true, true
	case "TARGETVARIANT":
		return p.Variant, true, true
	case "TARGETOSVERSION", "BUILDOSVERSION", "BUILDVARIANT":
		return "", true, true // nothing on Linux, or most likely nothing
	case "BUILDPLATFORM", "BUILDOS", "BUILDARCH":
		return "", false, true
	}
	return "", false, false
}

func isAutomatic(name string) bool {
	_, _, ok := automatic(name, platform.Platform{})
	return ok
}

var variablePattern = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)`)

// variables lists the names that a word uses, each once, also within defaults.
func variables(text string) []string {
	var list []string
	for _, m := range variablePattern.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(list, m[1]) {
			list = append(list, m[1])
		}
	}
	return list
}

// empty reports whether it makes a difference that the variable is unset where
// text uses it: its value would be another one than nothing, or than the
// default given there.
func empty(text, name string, p platform.Platform) bool {
	value, known, _ := automatic(name, p)
	if known && value == "" {
		return false
	}
	return !known || slices.ContainsFunc(variablePattern.FindAllStringSubmatchIndex(text, -1), func(at []int) bool {
		return text[at[2]:at[3]] == name && defaultIn(text[at[0]:at[2]], text[at[3]:]) != value
	})
}

// defaultIn is the default that a use of a variable gives, between what stands
// before and behind the name: "" where there is none.
func defaultIn(before, behind string) string {
	value, dash := strings.CutPrefix(strings.TrimPrefix(behind, ":"), "-")
	value, _, closed := strings.Cut(value, "}")
	if before != "${" || !dash || !closed {
		return ""
	}
	return value
}

// scope answers which ARG and ENV an instruction sees, as far as the text
// tells.
type scope struct {
	f   *dockerfile.File
	ins *dockerfile.Instruction
}

// definition is the last instruction before ins that sets name.
func (c scope) definition(name string) *dockerfile.Instruction {
	return c.in(c.ins.Stage, name, c.ins.Range.Start.Line, map[int]bool{})
}

func (c scope) in(stage int, name string, before int, seen map[int]bool) *dockerfile.Instruction {
	if stage < 0 || stage >= len(c.f.Stages) || seen[stage] {
		return nil
	}
	seen[stage] = true
	list := c.f.Stages[stage].Instructions
	for i := range slices.Backward(list) {
		if ins := &list[i]; ins.Range.Start.Line < before && sets(ins, name) {
			return ins
		}
	}
	for _, parent := range slices.Backward(c.parents(stage)) {
		if ins := c.in(parent, name, math.MaxInt, seen); ins != nil {
			return ins
		}
	}
	return nil
}

// parents are the earlier stages that a stage is built FROM: one, or all that
// it may be where a variable decides.
func (c scope) parents(stage int) []int {
	base := c.f.Stages[stage].Base
	var list []int
	for i, st := range c.f.Stages[:stage] {
		if st.Name != "" && (strings.EqualFold(st.Name, base) || strings.Contains(base, "$")) {
			list = append(list, i)
		}
	}
	if len(list) > 0 && !strings.Contains(base, "$") {
		list = list[len(list)-1:] // the last of a name counts
	}
	return list
}

// envWord is the name in NAME=value, or any word.
var envWord = regexp.MustCompile(`(?:^|\s)[^\s=]+`)

func sets(ins *dockerfile.Instruction, name string) bool {
	switch ins.Keyword {
	case "ARG":
		return slices.ContainsFunc(ins.Args, func(a dockerfile.Arg) bool { return a.Key == name })
	case "ENV":
		return slices.ContainsFunc(envWord.FindAllStringIndex(ins.Text, -1), func(at []int) bool {
			return at[1] < len(ins.Text) && strings.TrimLeft(ins.Text[at[0]:at[1]], " \t\r\n\f") == name
		})
	}
	return false
}

// undefined reports whether a platform argument has no value at an instruction.
// BuildKit's own lint says so; where the file turns that off, the text has to do.
func undefined(r *dockerfile.Recipe, ins *dockerfile.Instruction, name string) bool {
	if ins.Stage < 0 {
		return false // before the first FROM they need no ARG
	}
	for _, w := range r.Warnings {
		if w.Rule == "UndefinedVar" && strings.Contains(w.Message, "'$"+name+"'") &&
			slices.ContainsFunc(w.Ranges, func(at dockerfile.Range) bool { return at.Start.Line == ins.Range.Start.Line }) {
			return true
		}
	}
	skipped := r.File.Check.Has("UndefinedVar") || ins.Skip.Has("UndefinedVar")
	return skipped && scope{r.File, ins}.definition(name) == nil
}

// used is a platform argument that a word depends on, and the instruction that
// names it: the one with the word, or an ARG or ENV whose value it takes.
type used struct {
	name string
	in   *dockerfile.Instruction
	text string // that holds the name
}

// uses finds the platform arguments that a word of ins depends on, also through
// variables that are made of them.
func uses(f *dockerfile.File, ins *dockerfile.Instruction, text string) []used {
	return follow(f, ins, text, map[string]bool{})
}

func follow(f *dockerfile.File, ins *dockerfile.Instruction, text string, seen map[string]bool) []used {
	var list []used
	for _, name := range variables(text) {
		if isAutomatic(name) {
			list = append(list, used{name, ins, text})
			continue
		}
		if def, from := definition(f, ins, name); def != nil && !seen[name] {
			seen[name] = true
			list = append(list, follow(f, def, from, seen)...)
		}
	}
	return list
}

// definition is the instruction that gives name its value where ins stands, and
// the text that it does so with: enough to see which variables are in it.
func definition(f *dockerfile.File, ins *dockerfile.Instruction, name string) (def *dockerfile.Instruction, text string) {
	if ins.Stage >= 0 {
		def = scope{f, ins}.definition(name)
		if def == nil {
			return nil, ""
		}
		if def.Keyword == "ENV" {
			return def, def.Text
		}
		if text, ok := defaultOf(def, name); ok {
			return def, text
		}
	}
	for i := range slices.Backward(f.Global) {
		if text, ok := defaultOf(&f.Global[i], name); ok {
			return &f.Global[i], text
		}
	}
	return nil, ""
}

func defaultOf(def *dockerfile.Instruction, name string) (string, bool) {
	for _, a := range def.Args {
		if a.Key == name && a.Default != nil {
			return *a.Default, true
		}
	}
	return "", false
}
