package dockerfile

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/solver/pb"
)

// text maps lines and columns of a file to its bytes. The zero value is an
// empty file, which has one line.
type text struct {
	data   []byte
	starts []int // offset of each line
}

var bom = []byte("\xef\xbb\xbf")

func newText(data []byte) text {
	t := text{data: data, starts: []int{0}}
	if bytes.HasPrefix(data, bom) {
		t.starts[0] = len(bom) // so that column 1 is the first character one sees
	}
	for i, c := range data {
		if c == '\n' && i+1 < len(data) {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// line is line n, from 1, without its end.
func (t text) line(n int) []byte {
	if n < 1 || n > len(t.starts) {
		return nil
	}
	end := len(t.data)
	if n < len(t.starts) {
		end = t.starts[n]
	}
	return bytes.TrimRight(t.data[t.starts[n-1]:end], "\r\n")
}

// span is the place of lines first to last, without leading blanks. Lines
// outside the file are moved to its nearest one.
func (t text) span(first, last int) Range {
	n := max(1, len(t.starts))
	first = min(max(1, first), n)
	last = min(max(first, last), n)
	head := t.line(first)
	blank := len(head) - len(bytes.TrimLeftFunc(head, unicode.IsSpace))
	if first == last && blank == len(head) {
		blank = 0
	}
	return Range{
		Start: Position{Line: first, Column: 1 + utf8.RuneCount(head[:blank])},
		End:   Position{Line: last, Column: 1 + utf8.RuneCount(t.line(last))},
	}
}

// ranges joins BuildKit's list, which has an entry for each line, to one range
// for each run of lines.
func (t text) ranges(list []parser.Range) []Range {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b parser.Range) int { return a.Start.Line - b.Start.Line })
	var out []Range
	for i := 0; i < len(list); {
		first, last := list[i].Start.Line, list[i].End.Line
		for i++; i < len(list) && list[i].Start.Line <= last+1; i++ {
			last = max(last, list[i].End.Line)
		}
		out = append(out, t.span(first, last))
	}
	return out
}

// one is the range from the first to the last line of BuildKit's list.
func (t text) one(list []parser.Range) Range {
	all := t.ranges(list)
	if len(all) == 0 {
		return Range{}
	}
	return Range{Start: all[0].Start, End: all[len(all)-1].End}
}

// offset is the place of p in data; positions after a line's end are its end.
func (t text) offset(p Position) int {
	line := t.line(p.Line)
	if line == nil {
		return len(t.data)
	}
	at := t.starts[p.Line-1]
	for column := 1; column < p.Column && len(line) > 0; column++ {
		_, size := utf8.DecodeRune(line)
		line, at = line[size:], at+size
	}
	return at
}

// Offsets is the place of r in f.Data: Data[start:end] is what r spans.
func (f *File) Offsets(r Range) (start, end int) {
	t := newText(f.Data)
	return t.offset(r.Start), t.offset(r.End)
}

func (t text) pbRanges(list []*pb.Range) []Range {
	lines := make([]parser.Range, len(list))
	for i, r := range list {
		lines[i].Start.Line, lines[i].End.Line = int(r.GetStart().GetLine()), int(r.GetEnd().GetLine())
	}
	return t.ranges(lines)
}
