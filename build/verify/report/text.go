// Package report writes findings: for people, and in the formats that other
// programs read.
//
// Each format has the findings in the order that they are given in, and equal
// ones give equal bytes. Nothing that comes from a Dockerfile, or from its name,
// makes up a line or a command of its own. The only errors are those of the
// writer.
package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/archmage-go/archmage/build/verify"
)

// excerpt is how many lines of a long instruction are shown.
const excerpt = 8

// Text writes findings for people: place, rule and what happens, then the lines
// in question, then what to write. Source lines are those of the subjects that
// were checked.
//
// Everything from outside is written without control characters.
func Text(w io.Writer, findings []verify.Finding, subjects []verify.Subject) error {
	return Marked(w, findings, subjects, func(_ verify.Severity, text string) string { return text })
}

// Marked is Text with severities and rules as mark makes them, such as in
// colour.
func Marked(w io.Writer, findings []verify.Finding, subjects []verify.Subject, mark func(verify.Severity, string) string) error {
	sources := map[string][]byte{}
	for _, s := range subjects {
		for _, r := range s.Recipes {
			if r != nil && r.File != nil {
				sources[r.Dockerfile] = r.File.Data
			}
		}
	}
	t := text{mark: mark}
	for i, f := range findings {
		if i > 0 {
			t.WriteByte('\n')
		}
		t.finding(f, sources[f.File])
	}
	_, err := w.Write(t.Bytes())
	return err
}

// text is what is written so far.
type text struct {
	bytes.Buffer
	mark func(verify.Severity, string) string
}

func (t *text) finding(f verify.Finding, source []byte) {
	fmt.Fprintf(t, "%s:%d:%d: %s (%s): %s\n", plain(f.File), f.Start.Line, f.Start.Column,
		t.mark(f.Severity, string(f.Severity)+" "+f.Rule), plain(f.Image), plain(f.Message))
	lines := strings.Split(strings.TrimPrefix(string(source), "\ufeff"), "\n")
	last := min(f.End.Line, len(lines))
	for n := max(1, f.Start.Line); n <= last; n++ {
		if n-f.Start.Line == excerpt {
			fmt.Fprintf(t, "%7s | …\n", "")
			break
		}
		t.gutter(fmt.Sprint(n), lines[n-1])
	}
	label := "fix"
	for line := range strings.Lines(f.Fix) {
		t.gutter(label, line)
		label = ""
	}
	if f.URL != "" {
		t.gutter("see", f.URL)
	}
}

func (t *text) gutter(label, line string) {
	fmt.Fprintf(t, "%7s | %s\n", label, plain(strings.TrimRight(line, "\r\n")))
}

// plain makes text harmless for a terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return '?'
		}
		return r
	}, text)
}
