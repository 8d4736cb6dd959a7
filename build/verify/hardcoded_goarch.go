package verify

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// fixed is a compilation for one architecture on a platform of another.
type fixed struct {
	compilation
	in    *dockerfile.Instruction // that has the constant
	name  string                  // variable that it is given to
	files []string                // that are in the image
}

// hardcodedGoarch is HardcodedGoarch.
func hardcodedGoarch(s *state) []Finding {
	var found []fixed
	for _, r := range s.judged() {
		found = append(found, s.fixedIn(r)...)
	}
	var list []Finding
	for _, group := range grouped(found, func(c fixed) *dockerfile.Instruction { return c.in }) {
		list = append(list, s.tellFixed(group))
	}
	return list
}

func (s *state) fixedIn(r *dockerfile.Recipe) []fixed {
	var found []fixed
	archs := map[string]bool{} // that are in the image
	for _, st := range s.steps() {
		if st.r != r {
			continue
		}
		all := s.compiles(st)
		for _, c := range all {
			if c.arch.Open || c.arch.Text == "" || c.call.Maybe && !sameInEveryBranch(all) {
				continue
			}
			in, name := c.constant()
			if in == nil && c.arch.Text == r.Platform.Arch {
				continue
			}
			files := s.delivered(c)
			if len(files) == 0 {
				continue
			}
			archs[c.arch.Text] = true
			if in != nil && !c.call.Cond && c.linux() && foreignArch(c.arch.Text, r.Platform) {
				found = append(found, fixed{c, in, name, files})
			}
		}
	}
	if len(archs) > 1 { // an image with programs for several is made so
		found = slices.DeleteFunc(found, func(c fixed) bool { return len(named(c.files[0])) > 0 })
	}
	return found
}

// foreignArch reports whether text is an architecture of images, and no program
// for it runs on p. Most machines of 64 bits run those of 32 as well.
func foreignArch(text string, p platform.Platform) bool {
	if text == "386" && p.Arch == "amd64" || text == "arm" && p.Arch == "arm64" {
		return false
	}
	q, ok := platform.Named(text)
	return ok && q.Arch == text && text != p.Arch
}

// constant is the instruction in which GOARCH, or the variable that it is made
// of, has its value as a constant: nil where it has none.
func (c compilation) constant() (in *dockerfile.Instruction, name string) {
	switch {
	case c.kept != nil && len(c.arch.Vars) == 0:
		return c.kept.ins, "GOARCH"
	case len(c.arch.Vars) == 0:
		return c.ins, "GOARCH"
	case len(c.arch.Vars) > 1 || isAutomatic(c.arch.Vars[0]):
		return nil, ""
	}
	name = c.arch.Vars[0]
	def, _ := definition(c.r.File, c.ins, name)
	if def == nil || def.OnBuild || def.Keyword == "ARG" && name != "GOARCH" {
		return nil, "" // an argument of another name is the caller's to give
	}
	if !givesConstant(def, name, c.arch.Text) {
		return nil, ""
	}
	return def, name
}

// givesConstant reports whether an ENV or ARG gives a variable just that value.
func givesConstant(def *dockerfile.Instruction, name, text string) bool {
	return assignment(name, text).MatchString(def.Text)
}

// assignment finds NAME=value in an instruction, and NAME value of the old form
// of ENV. Its groups are what stands before the value, and the value.
func assignment(name, text string) *regexp.Regexp {
	name, text = regexp.QuoteMeta(name), regexp.QuoteMeta(text)
	return regexp.MustCompile(`((?:^|[\s;&|("'])` + name + `=|^(?i:ENV)\s+` + name + `\s+)("` + text + `"|'` + text + `'|` + text + `)(?:$|[\s;&|)"'\\])`)
}

func (s *state) tellFixed(group []fixed) Finding {
	c := group[0]
	f := s.at(c.r, c.in)
	for _, g := range group {
		if !slices.Contains(f.Platforms, g.r.Platform) {
			f.Platforms = append(f.Platforms, g.r.Platform)
		}
	}
	verb := "gets"
	if len(f.Platforms) > 1 {
		verb = "get"
	}
	f.Message = fmt.Sprintf("%s hears GOARCH=%s: %s %s %s, a program for %s",
		c.built(), c.arch.Text, names(f.Platforms), verb, few(c.files), c.arch.Text)
	at := c.places(group)
	f.Fix = c.fix(at)
	if c.name == "GOARCH" && c.in.Stage >= 0 && !slices.ContainsFunc(group, func(g fixed) bool { return g.verb == "install" }) {
		f.Edits = c.edits(at)
	}
	return f
}
