package shell

import (
	"path"
	"slices"
)

// Value is what a word holds, as far as the text tells.
type Value struct {
	Text string   // with "*" for each part that is unknown
	Open bool     // a part is unknown
	Vars []string // variables of the environment, and ones never set, that it is made of
	Pos  int      // offset in the text of the word, or of the name that it is assigned to; -1 where it has none there
}

// Unknown is a value of which nothing is known but the variables that it is
// made of.
func Unknown(vars ...string) Value { return Value{Text: "*", Open: true, Vars: vars, Pos: -1} }

func literal(text string) Value { return Value{Text: text, Pos: -1} }

// Empty reports whether v surely holds nothing, so that as a variable it counts
// as unset.
func (v Value) Empty() bool { return v.Text == "" && !v.Open }

// Path is a file as seen from the directory that v holds, cleaned. It is unknown
// where the file is relative and v is.
func (v Value) Path(file string) Value {
	switch {
	case path.IsAbs(file):
		return literal(path.Clean(file))
	case v.Open:
		return v
	}
	return literal(path.Join(v.Text, file))
}

// plus is v with another value behind it.
func (v Value) plus(w Value) Value {
	v.Text += w.Text
	v.Open = v.Open || w.Open
	v.Vars = union(v.Vars, w.Vars)
	return v
}

// either is a value that is one or the other.
func (v Value) either(w Value) Value {
	if v.Text == w.Text && v.Open == w.Open {
		v.Vars = union(v.Vars, w.Vars)
		return v
	}
	return Unknown(union(v.Vars, w.Vars)...)
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(slices.Clip(a), s)
		}
	}
	return a
}
