package dockerfile

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is one word of an instruction and its place: File.Data[Start:End].
type Word struct {
	Start, End int    // equal where a continuation runs through the word
	Text       string // as Instruction has it: decoded in JSON form, else as written
	JSON       bool   // what stands in its place is a JSON string
}

// Operands are the places of the sources and of the destination of a COPY or
// ADD, without flags and heredocs. ok is false where the text does not say what
// the instruction has, as with a trigger of another file.
//
// It reads the lines as BuildKit's parser does (v0.34.2): continuations are
// joined, comments and empty lines among them skipped, and words end at blanks
// whatever quotes they have. What it finds is compared with what that parser
// found.
func (f *File) Operands(ins *Instruction) (sources []Word, dest Word, ok bool) {
	if ins.OnBuild || len(ins.Sources) == 0 {
		return nil, Word{}, false
	}
	l := f.logical(ins)
	want := append(slices.Clone(ins.Sources), ins.Dest)
	words, ok := l.json(want)
	if !ok {
		words, ok = lastOf(l.fields(), want)
	}
	if !ok {
		return nil, Word{}, false
	}
	last := len(words) - 1
	return words[:last], words[last], true
}

// ArgWords are the places of the keys of an ARG, each with its default.
func (f *File) ArgWords(ins *Instruction) (words []Word, ok bool) {
	if ins.OnBuild || len(ins.Args) == 0 {
		return nil, false
	}
	var want []string
	for _, a := range ins.Args {
		text := a.Key
		if a.Default != nil {
			text += "=" + *a.Default
		}
		want = append(want, text)
	}
	return lastOf(f.logical(ins).quoted(f.escapeToken()), want)
}

// lastOf picks the words that want lists from the end of a list, where flags
// come before them and heredocs among them.
func lastOf(list []Word, want []string) ([]Word, bool) {
	found := make([]Word, len(want))
	i := len(want) - 1
	for _, w := range slices.Backward(list) {
		switch {
		case i < 0:
		case w.Text == want[i]:
			found[i] = w
			i--
		case !strings.HasPrefix(strings.TrimLeft(w.Text, "0123456789"), "<<"):
			return nil, false
		}
	}
	return found, i < 0
}

// logical is the line that an instruction is to the parser, and where each of
// its bytes stands in the file.
type logical struct {
	text []byte
	at   []int
}

func (f *File) escapeToken() byte {
	if f.escape == 0 {
		return '\\'
	}
	return f.escape
}

func (f *File) logical(ins *Instruction) logical {
	var l logical
	start, end := f.Offsets(ins.Range)
	for more := true; more && start < end; {
		next := end
		if i := bytes.IndexByte(f.Data[start:end], '\n'); i >= 0 {
			next = start + i + 1
		}
		line := bytes.TrimRight(f.Data[start:next], "\r\n")
		if head := bytes.TrimLeftFunc(line, unicode.IsSpace); len(head) > 0 && head[0] != '#' {
			line, more = continued(line, f.escapeToken())
			for i := range line {
				l.at = append(l.at, start+i)
			}
			l.text = append(l.text, line...)
		}
		start = next
	}
	return l
}

// continued is a line without the character that continues it, which is no such
// character after another one.
func continued(line []byte, escape byte) ([]byte, bool) {
	head := bytes.TrimRight(line, " \t")
	n := len(head) - 1
	if n < 0 || head[n] != escape || n > 0 && head[n-1] == escape {
		return line, false
	}
	return head[:n], true
}

// word is text[start:end] of the line, which may be in pieces in the file.
func (l logical) word(start, end int) Word {
	w := Word{Text: string(l.text[start:end])}
	if first, last := l.at[start], l.at[end-1]; last-first == end-1-start {
		w.Start, w.End = first, last+1
	}
	return w
}

// fields are the words of a COPY or ADD that is not in JSON form.
func (l logical) fields() []Word {
	var list []Word
	blank := func(c byte) bool { return strings.IndexByte("\t\v\f\r ", c) >= 0 }
	for end := len(bytes.TrimRightFunc(l.text, unicode.IsSpace)); end > 0; end-- {
		if blank(l.text[end-1]) {
			continue
		}
		start := end
		for start > 0 && !blank(l.text[start-1]) {
			start--
		}
		list = append(list, l.word(start, end))
		end = start
	}
	slices.Reverse(list)
	return list
}

// quoted are the words of an ARG: blanks in quotes, and escaped ones, belong to
// the word.
func (l logical) quoted(escape byte) []Word {
	var list []Word
	start, quote := -1, byte(0)
	for i := 0; i < len(l.text); {
		c := l.text[i]
		r, size := utf8.DecodeRune(l.text[i:])
		switch {
		case quote == 0 && unicode.IsSpace(r):
			if start >= 0 {
				list = append(list, l.word(start, i))
			}
			start = -1
			i += size
			continue
		case start < 0:
			start = i
		}
		switch {
		case c == escape && quote != '\'' && i+size < len(l.text):
			_, next := utf8.DecodeRune(l.text[i+size:])
			size += next
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
		i += size
	}
	if start >= 0 {
		list = append(list, l.word(start, len(l.text)))
	}
	return list
}

// json are the words of a COPY or ADD in JSON form, if it is in it and they are
// those.
func (l logical) json(want []string) ([]Word, bool) {
	for i, c := range l.text {
		var got []string
		if c != '[' || json.Unmarshal(l.text[i:], &got) != nil || !slices.Equal(got, want) {
			continue
		}
		list := make([]Word, 0, len(want))
		for at := i; len(list) < len(want); {
			start := at + bytes.IndexByte(l.text[at:], '"')
			at = start + 1
			for l.text[at] != '"' {
				if l.text[at] == '\\' {
					at++
				}
				at++
			}
			at++
			w := l.word(start, at)
			w.Text, w.JSON = got[len(list)], true
			list = append(list, w)
		}
		return list, true
	}
	return nil, false
}
