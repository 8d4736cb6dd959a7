package plan

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// widest is how far sources are lined up: a longer one moves its own line alone.
const widest = 56

// Text draws the graph for people: a line per source, and on the last of an image
// what becomes of it.
//
//	alpine:3.20 ──────────────────────────────────┐
//	cmd/app ─→ bin/app-linux-{amd64,arm64} ───────┴─→ app ─→ app:v1
func (g Graph) Text(w io.Writer) error {
	var b strings.Builder
	if len(g.Platforms) > 2 {
		fmt.Fprintf(&b, "%d platforms: %s\n\n", len(g.Platforms), Words(g.Platforms))
	}
	width := 0
	for _, img := range g.Images {
		for _, s := range img.sources() {
			if n := utf8.RuneCountInString(s); n <= widest {
				width = max(width, n)
			}
		}
	}
	for _, img := range g.Images {
		sources := img.sources()
		for i, s := range sources {
			b.WriteString(s + " " + strings.Repeat("─", max(1, width-utf8.RuneCountInString(s)+1)) + joint(i, len(sources)))
			if i == len(sources)-1 {
				fmt.Fprintf(&b, "─→ %s (%s) ─→ %s", img.Name, img.Legs, strings.Join(img.Indexes, " "))
			}
			b.WriteString("\n")
		}
	}
	for _, dir := range g.Unused {
		fmt.Fprintf(&b, "%s: no selected image copies it\n", dir)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// joint is where line i of n meets the others.
func joint(i, n int) string {
	switch {
	case n == 1:
		return "─"
	case i == 0:
		return "┐"
	case i < n-1:
		return "┤"
	}
	return "┴"
}

// sources are all that an image is made of, bases first.
func (img GraphImage) sources() []string {
	list := append([]string{}, img.Bases...)
	for _, c := range img.Copies {
		list = append(list, c.Dir+" ─→ "+c.Path)
	}
	if img.Source != "" {
		list = append(list, img.Source+" (compiled by its RUN)")
	}
	return list
}
