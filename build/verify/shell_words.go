package verify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a word of a script holds, as far as the text tells.
type value struct {
	text string   // with "*" for each part that is unknown
	open bool     // a part is unknown
	vars []string // variables of the RUN's environment, and ones never set, that it is made of
	pos  int      // offset of the word in the script; -1 where it has none there
}

func literal(text string) value { return value{text: text, pos: -1} }

func unknownValue(vars ...string) value { return value{text: "*", open: true, vars: vars, pos: -1} }

// plus is v with another value behind it.
func (v value) plus(w value) value {
	v.text += w.text
	v.open = v.open || w.open
	v.vars = union(v.vars, w.vars)
	return v
}

// either is a value that is one or the other.
func (v value) either(w value) value {
	if v.text == w.text && v.open == w.open {
		v.vars = union(v.vars, w.vars)
		return v
	}
	return unknownValue(union(v.vars, w.vars)...)
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(slices.Clip(a), s)
		}
	}
	return a
}

// fields expands a word. An unquoted variable may be none or several words.
func (sh *shell) fields(w *syntax.Word) []value {
	v := sh.word(w)
	if len(w.Parts) == 1 {
		if _, ok := w.Parts[0].(*syntax.ParamExp); ok && !v.open {
			var list []value
			for _, f := range strings.Fields(v.text) {
				list = append(list, value{text: f, vars: v.vars, pos: v.pos})
			}
			return list
		}
	}
	return []value{v}
}

// word expands a word without splitting it.
func (sh *shell) word(w *syntax.Word) value {
	v := value{pos: -1}
	if w == nil {
		return v
	}
	if sh.nested == 0 {
		v.pos = int(w.Pos().Offset())
	}
	return v.plus(sh.parts(w.Parts, false))
}

func (sh *shell) parts(list []syntax.WordPart, quoted bool) value {
	var v value
	for _, p := range list {
		switch p := p.(type) {
		case *syntax.Lit:
			v = v.plus(literal(unescape(p.Value, quoted)))
		case *syntax.SglQuoted:
			v = v.plus(literal(p.Value))
		case *syntax.DblQuoted:
			v = v.plus(sh.parts(p.Parts, true))
		case *syntax.ParamExp:
			v = v.plus(sh.parameter(p))
		default:
			v = v.plus(unknownValue(mentioned(p)...))
		}
	}
	return v
}

// unescape removes the backslashes that the shell removes.
func unescape(text string, quoted bool) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			switch {
			case text[i] == '\n':
				continue
			case quoted && !strings.ContainsRune("$`\"\\", rune(text[i])):
				b.WriteByte('\\')
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// mentioned lists the variables below a node, such as a command substitution.
func mentioned(n syntax.Node) []string {
	var list []string
	for n := range syntax.Preorder(n) {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
			list = union(list, []string{p.Param.Value})
		}
	}
	return list
}

// parameter expands ${name} and its forms with a default or an alternative.
// Of what cuts at a value, only that of nothing is known.
func (sh *shell) parameter(p *syntax.ParamExp) value {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || !syntax.ValidName(p.Param.Value) {
		return unknownValue(mentioned(p)...)
	}
	v := sh.get(p.Param.Value)
	switch {
	case p.Exp != nil:
		return sh.expansion(v, p.Exp)
	case p.Slice == nil && p.Repl == nil && p.Names == 0:
		return v
	case v.text == "" && !v.open:
		return v
	}
	return unknownValue(v.vars...)
}

func (sh *shell) expansion(v value, e *syntax.Expansion) value {
	var other value
	if e.Word != nil {
		other = sh.parts(e.Word.Parts, false)
	}
	empty := v.text == "" && !v.open
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		switch {
		case v.open:
			return unknownValue(union(v.vars, other.vars)...)
		case empty:
			other.vars = union(v.vars, other.vars)
			return other
		}
		return v
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		switch {
		case v.open:
			return unknownValue(union(v.vars, other.vars)...)
		case empty:
			return v
		}
		other.vars = union(v.vars, other.vars)
		return other
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if empty {
			return unknownValue(v.vars...) // the RUN fails, and with it the build
		}
		return v
	}
	if empty {
		return v
	}
	return unknownValue(v.vars...)
}
