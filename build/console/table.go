package console

import (
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
)

// column is one of a table, and whether it is left out first on a narrow
// terminal: the highest is, 0 never.
type column struct {
	name string
	drop int
}

var (
	legColumns = []column{{"image", 0}, {"platform", 0}, {"engine", 4}, {"size", 3}, {"digest", 5}, {"time", 2}, {"", 1}}
	binColumns = []column{{"command", 0}, {"platforms", 1}, {"time", 2}, {"", 0}}
)

// table shows what became of legs, or of binaries, in columns that fit.
func (c *Console) table(all []Outcome, columns int) string {
	var legs []Outcome
	var rows [][]string
	for _, o := range all {
		if o.Subject.Command == "" {
			legs = append(legs, o)
			rows = append(rows, o.row())
		}
	}
	text := ""
	if len(legs) > 0 {
		text = c.grid(legColumns, rows, columns)
	}
	if len(legs) < len(all) {
		text += c.grid(binColumns, binaryRows(all), columns)
	}
	return text
}

// row is one leg's.
func (o Outcome) row() []string {
	size := "-"
	if o.Size > 0 {
		size = bytesOf(o.Size)
	}
	return []string{o.Subject.Image, o.Subject.Platform, dash(o.Engine), size, dash(short(o.Digest)), dash(duration(o.Time)), o.State}
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// short is a digest as people compare it; whole ones are results.
func short(digest string) string {
	const shown = len("sha256:") + 12
	return digest[:min(len(digest), shown)]
}

// binaryRows has a row for each command and what became of it: the platforms
// are many and tell little.
func binaryRows(all []Outcome) [][]string {
	type key struct{ command, state string }
	var order []key
	platforms, took := map[key][]string{}, map[key]time.Duration{}
	for _, o := range all {
		k := key{o.Subject.Command, o.State}
		if o.Subject.Command == "" {
			continue
		}
		if !slices.Contains(order, k) {
			order = append(order, k)
		}
		platforms[k] = append(platforms[k], o.Subject.Platform)
		took[k] = max(took[k], o.Time)
	}
	var rows [][]string
	for _, k := range order {
		rows = append(rows, []string{k.command, strings.Join(platforms[k], " "), dash(duration(took[k])), k.state})
	}
	return rows
}

// grid aligns rows under the names of their columns. What does not fit loses
// columns, then the ends of its lines.
func (c *Console) grid(cols []column, rows [][]string, columns int) string {
	widths := make([]int, len(cols))
	for i, col := range cols {
		widths[i] = width(col.name)
		for _, row := range rows {
			row[i] = printable(row[i])
			widths[i] = max(widths[i], width(row[i]))
		}
	}
	kept := fitting(cols, widths, columns)
	head := make([]string, len(cols))
	for i, col := range cols {
		head[i] = col.name
	}
	var b strings.Builder
	for i, row := range append([][]string{head}, rows...) {
		var line []string
		for _, k := range kept {
			line = append(line, padded(row[k], widths[k]))
		}
		text := cut(strings.TrimRight(strings.Join(line, "  "), " "), columns)
		switch {
		case i == 0:
			text = c.paint(text, color.Faint)
		case row[len(row)-1] == stateFailed:
			text = c.paint(text, color.FgRed)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// fitting are the columns that there is room for.
func fitting(cols []column, widths []int, columns int) []int {
	var kept []int
	total := -2
	for i := range cols {
		kept = append(kept, i)
		total += widths[i] + 2
	}
	for total > columns {
		at := 0
		for i, k := range kept {
			if cols[k].drop > cols[kept[at]].drop {
				at = i
			}
		}
		if cols[kept[at]].drop == 0 {
			break
		}
		total -= widths[kept[at]] + 2
		kept = slices.Delete(kept, at, at+1)
	}
	return kept
}
