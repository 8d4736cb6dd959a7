package verify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// onBuild is the ONBUILD that a trigger comes from, nil where another file has
// it or ins is no trigger.
func onBuild(f *dockerfile.File, ins *dockerfile.Instruction) *dockerfile.Instruction {
	if !ins.OnBuild || ins.Stage < 0 || ins.Stage >= len(f.Stages) {
		return nil
	}
	parent := f.Stages[ins.Stage].Parent
	if parent < 0 || parent >= ins.Stage {
		return nil
	}
	list := f.Stages[parent].Instructions
	for i := range list {
		if said := words(list[i].Text); list[i].Keyword == "ONBUILD" && len(said) > 1 && slices.Equal(said[1:], words(ins.Text)) {
			return &list[i]
		}
	}
	return nil
}

// means reports whether an action may be what a source of an instruction is
// with its variables expanded.
func means(ins *dockerfile.Instruction, source int, does *dockerfile.Copy) bool {
	return does != nil && mayEndIn(ins.Sources[source], does.Src) && mayEndIn(ins.Dest, does.Dest)
}

var expansion = regexp.MustCompile(`\$\{[^}]*\}|\$[A-Za-z_][A-Za-z0-9_]*`)

// mayEndIn reports whether a word ends in path whatever its variables are: what
// stands before may come from the working directory.
func mayEndIn(word, path string) bool {
	word = strings.Trim(strings.TrimPrefix(word, "."), "/")
	var pattern strings.Builder
	for i, literal := range expansion.Split(word, -1) {
		if i > 0 {
			pattern.WriteString(".*")
		}
		pattern.WriteString(regexp.QuoteMeta(literal))
	}
	ok, _ := regexp.MatchString(pattern.String()+"$", strings.Trim(path, "/"))
	return ok
}
