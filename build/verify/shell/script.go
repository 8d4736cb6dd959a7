package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// Script is a text that was followed.
type Script struct {
	Text  string // as the shell gets it
	Calls []Call // in the order of the text
	Lost  bool   // something that is not in the text may have set any variable
	Plain bool   // it is a list of commands, and nothing that decides, repeats or connects them

	end *shell
}

// Value is a variable's where the script ends: nothing where it was never set.
func (s *Script) Value(name string) Value { return s.end.get(name) }

// Exports are the variables that export names and that are exported where the
// script ends, in the order of their names in it.
func (s *Script) Exports() []string {
	var list []string
	for n := range syntax.Preorder(s.end.file) {
		d, ok := n.(*syntax.DeclClause)
		if !ok || d.Variant == nil || d.Variant.Value != "export" {
			continue
		}
		for _, a := range d.Args {
			if a.Name == nil || slices.Contains(list, a.Name.Value) {
				continue
			}
			if v, ok := s.end.vars[a.Name.Value]; ok && v.exported {
				list = append(list, a.Name.Value)
			}
		}
	}
	return list
}

// Uses reports whether a variable is named anywhere in the text, and without a
// default.
func (s *Script) Uses(name string) bool {
	for n := range syntax.Preorder(s.end.file) {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && p.Param.Value == name && p.Exp == nil {
			return true
		}
	}
	return false
}

// Sets reports whether the text itself may set a variable anywhere: it is
// assigned to or exported, a loop goes through it, or something is read, into whatever.
func (s *Script) Sets(name string) bool {
	for n := range syntax.Preorder(s.end.file) {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && n.Name.Value == name {
				return true
			}
		case *syntax.WordIter:
			if n.Name != nil && n.Name.Value == name {
				return true
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && slices.Contains(readers, n.Args[0].Lit()) {
				return true
			}
		}
	}
	return false
}

// Assigned are the words that the text assigns to a variable, as they are
// written, in their order.
func (s *Script) Assigned(name string) []string {
	var list []string
	for n := range syntax.Preorder(s.end.file) {
		if a, ok := n.(*syntax.Assign); ok && a.Name != nil && a.Name.Value == name && a.Value != nil {
			list = append(list, s.end.source(a.Value))
		}
	}
	return list
}
