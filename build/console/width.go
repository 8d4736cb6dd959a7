package console

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// width is how many cells of a terminal a text takes.
func width(text string) int { return displaywidth.String(text) }

// cut leaves what fits, with a mark where something is missing, on one line.
func cut(text string, columns int) string {
	text = strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
	return displaywidth.TruncateString(text, columns, "…")
}

// padded adds blanks up to a width.
func padded(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-width(text)))
}

// bytesOf is a number of bytes for people, in units of 1000.
func bytesOf(n int64) string {
	value, unit := scale(n)
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// moved is how many bytes of how many, in one unit.
func moved(bytes, total int64) string {
	if total <= 0 {
		return bytesOf(bytes)
	}
	of, unit := scale(max(bytes, total))
	if unit == 0 {
		return fmt.Sprintf("%d/%d B", bytes, total)
	}
	part := float64(bytes) / float64(max(bytes, total)) * of
	return fmt.Sprintf("%.1f/%.1f %s", part, of, units[unit])
}

var units = []string{"B", "kB", "MB", "GB", "TB"}

func scale(n int64) (value float64, unit int) {
	value = float64(n)
	for value >= 1000 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	return value, unit
}
