package verify

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// lost is a variable that a RUN exports, and the RUN that misses it.
type lost struct {
	*step
	name  string
	value value
	later *step
}

// lostExport is LostExport: each RUN has a shell of its own.
func lostExport(s *state) []Finding {
	var found []lost
	for _, st := range s.steps() {
		if st.shell == nil {
			continue
		}
		for _, name := range exported(st) {
			later := s.misses(st, name)
			if later != nil {
				found = append(found, lost{st, name, st.shell.get(name), later})
			}
		}
	}
	var list []Finding
	for _, group := range grouped(found, func(l lost) *dockerfile.Instruction { return l.ins }) {
		list = append(list, s.tellLost(group))
	}
	return list
}

// exported are the variables that a script exports and its environment did not
// have, in the order of their names in it.
func exported(st *step) []string {
	var list []string
	for n := range syntax.Preorder(st.shell.file) {
		d, ok := n.(*syntax.DeclClause)
		if !ok || d.Variant == nil || d.Variant.Value != "export" {
			continue
		}
		for _, a := range d.Args {
			if a.Name == nil || slices.Contains(list, a.Name.Value) || wellKnown(a.Name.Value) {
				continue
			}
			if v, ok := st.shell.vars[a.Name.Value]; ok && v.exported {
				list = append(list, a.Name.Value)
			}
		}
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
		if o.r != st.r || o.op <= st.op || o.ins.Stage != st.ins.Stage || o.shell == nil || !missingIn(o, name) || !on(o.r, o.op, st.op) {
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
	if st.shell.lost {
		return false
	}
	uses := false
	for n := range syntax.Preorder(st.shell.file) {
		switch n := n.(type) {
		case *syntax.ParamExp:
			uses = uses || n.Param != nil && n.Param.Value == name && n.Exp == nil
		case *syntax.Assign:
			if n.Name != nil && n.Name.Value == name {
				return false
			}
		case *syntax.WordIter:
			if n.Name != nil && n.Name.Value == name {
				return false
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && slices.Contains([]string{"read", "getopts", "mapfile", "readarray"}, n.Args[0].Lit()) {
				return false
			}
		}
	}
	return uses || goVariable(name) && slices.ContainsFunc(st.calls, func(c call) bool {
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
	for n := range syntax.Preorder(l.shell.file) {
		a, ok := n.(*syntax.Assign)
		if !ok || a.Name == nil || a.Name.Value != l.name || a.Value == nil {
			continue
		}
		text := l.shell.source(a.Value)
		if !strings.ContainsAny(text, "`%#/") && !strings.Contains(text, "$(") || !l.value.open && !strings.Contains(text, "$") {
			return "ENV " + l.name + "=" + text
		}
	}
	return fmt.Sprintf("export %s in line %d instead of here", l.name, l.later.ins.Range.Start.Line)
}
