package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteJSON writes {"version": 1, "findings": […]}, indented. Fields are only
// ever added.
func WriteJSON(w io.Writer, findings []Finding) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Version  int       `json:"version"`
		Findings []Finding `json:"findings"`
	}{1, append([]Finding{}, findings...)})
}

// excerpt is how many lines of a long instruction are shown.
const excerpt = 8

// WriteText writes findings for people: place, rule and what happens, then the
// lines in question, then what to write. Source lines are those of the
// subjects that were checked.
//
// Everything from outside is written without control characters.
func WriteText(w io.Writer, findings []Finding, subjects []Subject) error {
	return WriteMarked(w, findings, subjects, func(_ Severity, text string) string { return text })
}

// WriteMarked is WriteText with severities and rules as mark makes them, such as
// in colour.
func WriteMarked(w io.Writer, findings []Finding, subjects []Subject, mark func(Severity, string) string) error {
	sources := map[string][]byte{}
	for _, s := range subjects {
		for _, r := range s.Recipes {
			if r != nil && r.File != nil {
				sources[r.Dockerfile] = r.File.Data
			}
		}
	}
	var b bytes.Buffer
	for i, f := range findings {
		if i > 0 {
			b.WriteByte('\n')
		}
		f.text(&b, sources[f.File], mark)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (f Finding) text(b *bytes.Buffer, source []byte, mark func(Severity, string) string) {
	fmt.Fprintf(b, "%s:%d:%d: %s (%s): %s\n", plain(f.File), f.Start.Line, f.Start.Column,
		mark(f.Severity, string(f.Severity)+" "+f.Rule), plain(f.Image), plain(f.Message))
	lines := strings.Split(strings.TrimPrefix(string(source), "\ufeff"), "\n")
	last := min(f.End.Line, len(lines))
	for n := max(1, f.Start.Line); n <= last; n++ {
		if n-f.Start.Line == excerpt {
			fmt.Fprintf(b, "%7s | …\n", "")
			break
		}
		gutter(b, fmt.Sprint(n), lines[n-1])
	}
	label := "fix"
	for line := range strings.Lines(f.Fix) {
		gutter(b, label, line)
		label = ""
	}
	if f.URL != "" {
		gutter(b, "see", f.URL)
	}
}

func gutter(b *bytes.Buffer, label, line string) {
	fmt.Fprintf(b, "%7s | %s\n", label, plain(strings.TrimRight(line, "\r\n")))
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
