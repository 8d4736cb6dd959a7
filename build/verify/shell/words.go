package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fields expands a word. An unquoted variable may be none or several words.
func (sh *shell) fields(w *syntax.Word) []Value {
	v := sh.word(w)
	if len(w.Parts) == 1 {
		if _, ok := w.Parts[0].(*syntax.ParamExp); ok && !v.Open {
			var list []Value
			for _, f := range strings.Fields(v.Text) {
				list = append(list, Value{Text: f, Vars: v.Vars, Pos: v.Pos})
			}
			return list
		}
	}
	return []Value{v}
}

// word expands a word without splitting it.
func (sh *shell) word(w *syntax.Word) Value {
	v := Value{Pos: -1}
	if w == nil {
		return v
	}
	if sh.nested == 0 {
		v.Pos = int(w.Pos().Offset())
	}
	return v.plus(sh.parts(w.Parts, false))
}

func (sh *shell) parts(list []syntax.WordPart, quoted bool) Value {
	var v Value
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
			v = v.plus(Unknown(mentioned(p)...))
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
func (sh *shell) parameter(p *syntax.ParamExp) Value {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || !syntax.ValidName(p.Param.Value) {
		return Unknown(mentioned(p)...)
	}
	v := sh.get(p.Param.Value)
	switch {
	case p.Exp != nil:
		return sh.expansion(v, p.Exp)
	case p.Slice == nil && p.Repl == nil && p.Names == 0:
		return v
	case v.Empty():
		return v
	}
	return Unknown(v.Vars...)
}

func (sh *shell) expansion(v Value, e *syntax.Expansion) Value {
	var other Value
	if e.Word != nil {
		other = sh.parts(e.Word.Parts, false)
	}
	empty := v.Empty()
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		switch {
		case v.Open:
			return Unknown(union(v.Vars, other.Vars)...)
		case empty:
			other.Vars = union(v.Vars, other.Vars)
			return other
		}
		return v
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		switch {
		case v.Open:
			return Unknown(union(v.Vars, other.Vars)...)
		case empty:
			return v
		}
		other.Vars = union(v.Vars, other.Vars)
		return other
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if empty {
			return Unknown(v.Vars...) // the RUN fails, and with it the build
		}
		return v
	}
	if empty {
		return v
	}
	return Unknown(v.Vars...)
}
