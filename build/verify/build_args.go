package verify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// decider is a build argument that says an architecture: by its default, or by
// its name where it has none.
type decider struct {
	name, value string
	via         string // the variable in the word that it decides, often itself
}

var archName = regexp.MustCompile(`(?i)(^|_)(GO)?ARCH(ITECTURE)?(_|$)`)

// deciders finds the build arguments that decide an architecture in a word of
// ins, also through variables that are made of them. A value that is made of a
// platform argument is decided by the platform.
func deciders(f *dockerfile.File, ins *dockerfile.Instruction, text string) []decider {
	var list []decider
	for _, name := range variables(text) {
		for _, d := range decides(f, ins, name, map[string]bool{}) {
			d.via = name
			list = append(list, d)
		}
	}
	return list
}

func decides(f *dockerfile.File, ins *dockerfile.Instruction, name string, seen map[string]bool) []decider {
	if isAutomatic(name) || seen[name] {
		return nil
	}
	seen[name] = true
	def, value := definition(f, ins, name)
	switch {
	case def == nil:
		if argument(f, ins, name) && archName.MatchString(name) {
			return []decider{{name: name}}
		}
		return nil
	case def.Keyword == "ARG" && slices.ContainsFunc(variables(value), isAutomatic):
		return nil
	case def.Keyword == "ARG" && (len(named(value)) > 0 || archName.MatchString(name)):
		return []decider{{name: name, value: strings.Trim(value, `"'`)}}
	}
	var list []decider
	for _, next := range variables(value) {
		list = append(list, decides(f, def, next, seen)...)
	}
	return list
}

// argument reports whether an ARG without a default declares a name.
func argument(f *dockerfile.File, ins *dockerfile.Instruction, name string) bool {
	if ins.Stage >= 0 {
		def := scope{f, ins}.definition(name)
		return def != nil && def.Keyword == "ARG"
	}
	return slices.ContainsFunc(f.Global, func(g dockerfile.Instruction) bool { return sets(&g, name) })
}

// inFrom is a FROM as its variables are looked up: before the first of all.
func inFrom(st *dockerfile.Stage) *dockerfile.Instruction {
	ins := st.From
	ins.Stage = -1
	return &ins
}

// byPlatform is the word with the platform's architecture for what an argument
// decides, or the word itself where it is not to be seen what to write.
func byPlatform(word string, list []decider) string {
	for _, d := range list {
		to := "${TARGETARCH}"
		if at := named(d.value); len(at) > 0 {
			w := at[len(at)-1]
			to = d.value[:w.start] + to + d.value[w.end:]
		}
		if d.via == d.name {
			use := regexp.MustCompile(`\$\{` + d.name + `(?::?[-+][^}]*)?\}|\$` + d.name + `\b`)
			word = use.ReplaceAllLiteralString(word, to)
		}
	}
	return word
}

// argumentNames is "build argument ARCH", for a message.
func argumentNames(list []decider) string {
	var args []string
	for _, d := range list {
		if !slices.Contains(args, d.name) {
			args = append(args, d.name)
		}
	}
	if len(args) == 1 {
		return "build argument " + args[0]
	}
	return "build arguments " + and(args)
}
