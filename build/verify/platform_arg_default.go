package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// defaulted is an ARG that gives a platform argument a value of its own.
type defaulted struct {
	r    *dockerfile.Recipe
	ins  *dockerfile.Instruction
	args []dockerfile.Arg
}

// platformDefaults is PlatformArgDefault. Sources that are wrong because of such
// a default are not reported a second time.
func platformDefaults(s *state) []Finding {
	var found []defaulted
	for _, r := range s.judged() {
		own := s.defaults(r)
		found = append(found, own...)
		for _, t := range s.takes {
			t.claimed = t.claimed || t.r == r && follows(t, own)
		}
	}
	var list []Finding
	for len(found) > 0 {
		group := slices.Clone(found[:1])
		found = slices.DeleteFunc(found[1:], func(d defaulted) bool {
			same := sameText(d.ins, group[0].ins)
			if same {
				group = append(group, d)
			}
			return same
		})
		list = append(list, s.tellDefault(group))
	}
	return list
}

// defaults finds them in a recipe: in stages that the target needs, and before
// the first FROM where such a stage uses the value. One that says what every
// platform of the image would say, such as TARGETOS=linux, changes nothing.
func (s *state) defaults(r *dockerfile.Recipe) []defaulted {
	var list []defaulted
	add := func(ins *dockerfile.Instruction, counts func(dockerfile.Arg) bool) {
		d := defaulted{r: r, ins: ins}
		for _, a := range ins.Args {
			if isAutomatic(a.Key) && a.Default != nil && s.deviates(a) && counts(a) {
				d.args = append(d.args, a)
			}
		}
		if len(d.args) > 0 {
			list = append(list, d)
		}
	}
	needed := globalsUsed(r.File)
	for i := range r.File.Global {
		add(&r.File.Global[i], func(a dockerfile.Arg) bool {
			return slices.Contains(needed, a.Key) && !mentions(*a.Default, a.Key)
		})
	}
	for i := range r.File.Stages {
		st := &r.File.Stages[i]
		for k := range st.Instructions {
			if ins := &st.Instructions[k]; st.Reachable && ins.Keyword == "ARG" {
				add(ins, func(a dockerfile.Arg) bool { return !mentions(*a.Default, a.Key) || undefined(r, ins, a.Key) })
			}
		}
	}
	return list
}

// deviates reports whether a default is another value than that of any of the
// image's platforms.
func (s *state) deviates(a dockerfile.Arg) bool {
	return slices.ContainsFunc(s.platforms(), func(p platform.Platform) bool { return differs(a, p) })
}

// mentions reports whether a default hands on the value that there is.
func mentions(text, name string) bool { return slices.Contains(variables(text), name) }

// globalsUsed lists the arguments before the first FROM whose value counts:
// those that a FROM names or a stage declares without a default, and those that
// such values are made of.
func globalsUsed(f *dockerfile.File) []string {
	var list []string
	add := func(names ...string) {
		for _, n := range names {
			if !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	for _, st := range f.Stages {
		if !st.Reachable {
			continue
		}
		add(variables(st.Base + " " + st.Platform)...)
		for _, ins := range st.Instructions {
			for _, a := range ins.Args {
				if a.Default == nil {
					add(a.Key)
				}
			}
		}
	}
	for i := range slices.Backward(f.Global) {
		for _, a := range f.Global[i].Args {
			if a.Default != nil && slices.Contains(list, a.Key) {
				add(variables(*a.Default)...)
			}
		}
	}
	return list
}

// follows reports whether a source depends on an argument with a default.
func follows(t *take, list []defaulted) bool {
	return slices.ContainsFunc(uses(t.r.File, t.ins, t.written()), func(u used) bool {
		return slices.ContainsFunc(list, func(d defaulted) bool {
			return slices.ContainsFunc(d.args, func(a dockerfile.Arg) bool { return a.Key == u.name })
		})
	})
}

func (s *state) tellDefault(group []defaulted) Finding {
	d := group[0]
	f := s.at(d.r, d.ins)
	var all, wrong []platform.Platform
	var texts []string
	for _, g := range group {
		all = append(all, g.r.Platform)
		if slices.ContainsFunc(g.args, func(a dockerfile.Arg) bool { return differs(a, g.r.Platform) }) {
			wrong = append(wrong, g.r.Platform)
		}
	}
	f.Platforms = wrong
	if wrong == nil {
		f.Platforms = all
	}
	for _, a := range d.args {
		texts = append(texts, a.Key+" is "+cmp.Or(unquoted(a), "empty"))
	}
	f.Message = fmt.Sprintf("%s on %s: a default wins over the value of the platform", and(texts), names(f.Platforms))
	if !d.ins.OnBuild {
		f.Fix = d.bare()
		f.Edits = editDefaults(group)
	}
	return f
}

// differs reports whether a default is not what the platform would say. What is
// made of variables, or depends on the machine, may be.
func differs(a dockerfile.Arg, p platform.Platform) bool {
	value, known, _ := automatic(a.Key, p)
	return !known || unquoted(a) != value
}

func unquoted(a dockerfile.Arg) string { return strings.Trim(*a.Default, `"'`) }

// bare is an ARG without the defaults that are wrong.
func (d defaulted) bare() string {
	var words []string
	for _, a := range d.ins.Args {
		word := a.Key
		if a.Default != nil && !slices.Contains(d.args, a) {
			word += "=" + *a.Default
		}
		words = append(words, word)
	}
	return "ARG " + strings.Join(words, " ")
}
