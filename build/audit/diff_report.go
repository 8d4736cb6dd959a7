package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes {"version": 1, "a": {…}, "b": {…}, "equal": …, "platforms":
// […], "differences": […], "omitted": …, "notChecked": […]}, indented. Fields
// are only ever added.
func (c Comparison) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Version     int          `json:"version"`
		A           Compared     `json:"a"`
		B           Compared     `json:"b"`
		Equal       bool         `json:"equal"`
		Platforms   []string     `json:"platforms"`
		Differences []Difference `json:"differences"`
		Omitted     int          `json:"omitted"`
		NotChecked  []string     `json:"notChecked"`
	}{1, c.A, c.B, c.Equal(), append([]string{}, c.Platforms...), append([]Difference{}, c.Differences...), c.Omitted, append([]string{}, c.NotChecked...)})
}

// WriteText writes a line per difference for people, what A has before what B
// has. Everything from outside is written without control characters.
func (c Comparison) WriteText(w io.Writer) error {
	var b bytes.Buffer
	if !c.Equal() {
		fmt.Fprintf(&b, "A  %s  %s\nB  %s  %s\n", plain(c.A.Ref), c.A.Digest, plain(c.B.Ref), c.B.Digest)
	}
	for _, d := range c.Differences {
		fmt.Fprintln(&b, plain(d.String()))
	}
	if c.Omitted > 0 {
		fmt.Fprintf(&b, "and %d more\n", c.Omitted)
	}
	for _, what := range c.NotChecked {
		fmt.Fprintf(&b, "not checked: %s\n", plain(what))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// String is the difference in one line.
func (d Difference) String() string {
	text := ""
	for _, part := range []string{d.Platform, d.In, d.Path} {
		if part != "" {
			text += part + ": "
		}
	}
	text += d.What
	switch {
	case d.What == "only in A" || d.B == "" && d.A != "" && (d.What == "bytes" || d.What == "tar" || d.What == "go build info"):
		return text + ": " + d.A
	case d.What == "only in B":
		return text + ": " + d.B
	}
	return text + ": " + orNothing(d.A) + " | " + orNothing(d.B)
}

func orNothing(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
