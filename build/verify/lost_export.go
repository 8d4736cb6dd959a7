package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/verify/shell"
)

// lost is a variable that a RUN exports, and the RUN that misses it.
type lost struct {
	*step
	name  string
	value shell.Value
	later *step
}

// lostExport is LostExport: each RUN has a shell of its own.
func lostExport(s *state) []Finding {
	var found []lost
	for _, st := range s.steps() {
		if st.script == nil {
			continue
		}
		for _, name := range st.script.Exports() {
			if wellKnown(name) {
				continue
			}
			if later := s.misses(st, name); later != nil {
				found = append(found, lost{st, name, st.script.Value(name), later})
			}
		}
	}
	var list []Finding
	for _, group := range grouped(found, func(l lost) *dockerfile.Instruction { return l.ins }) {
		list = append(list, s.tellLost(group))
	}
	return list
}

// wellKnown are variables that every RUN has anyway.
func wellKnown(name string) bool {
	return slices.Contains([]string{"PATH", "HOME", "PWD", "USER", "SHELL", "LANG", "TERM", "DEBIAN_FRONTEND"}, name)
}

// misses is the first later step of the same stage that uses a variable, and
// has not got it from anywhere.
func (s *state) misses(st *step, name string) *step {
	for _, o := range s.steps() {
		if o.r != st.r || o.op <= st.op || o.ins.Stage != st.ins.Stage || o.script == nil || !missingIn(o, name) || !on(o.r, o.op, st.op) {
			continue
		}
		if usesUnset(o, name) {
			return o
		}
	}
	return nil
}

// usesUnset reports whether a script uses a variable that it does not set: by
// name and without a default, or, if it is one of Go's, through the go command.
func usesUnset(st *step, name string) bool {
	if st.script.Lost || st.script.Sets(name) {
		return false
	}
	return st.script.Uses(name) || goVariable(name) && slices.ContainsFunc(st.calls, func(c shell.Call) bool {
		verb, _ := goCommand(&c)
		return verb == "build" || verb == "install"
	})
}

// goVariable is what the go command reads.
func goVariable(name string) bool {
	return slices.Contains([]string{
		"GOARCH", "GOOS", "GOARM", "GOAMD64", "GOARM64", "CGO_ENABLED", "GOFLAGS", "GOPROXY", "GOPRIVATE", "GONOSUMDB", "GO111MODULE", "GOEXPERIMENT",
	}, name)
}

func (s *state) tellLost(group []lost) Finding {
	f := s.at(group[0].r, group[0].ins)
	var texts, lines []string
	for _, l := range group {
		if !slices.Contains(f.Platforms, l.r.Platform) {
			f.Platforms = append(f.Platforms, l.r.Platform)
		}
		text := fmt.Sprintf("%s is exported for this RUN alone, and the one in line %d has none", l.name, l.later.ins.Range.Start.Line)
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
			lines = append(lines, l.fix())
		}
	}
	f.Message = strings.Join(texts, "; ")
	f.Fix = strings.Join(lines, "\n")
	return f
}

// fix is an ENV where what is exported can be told without a shell.
func (l lost) fix() string {
	for _, text := range l.script.Assigned(l.name) {
		if !strings.ContainsAny(text, "`%#/") && !strings.Contains(text, "$(") || !l.value.Open && !strings.Contains(text, "$") {
			return "ENV " + l.name + "=" + text
		}
	}
	return fmt.Sprintf("export %s in line %d instead of here", l.name, l.later.ins.Range.Start.Line)
}
