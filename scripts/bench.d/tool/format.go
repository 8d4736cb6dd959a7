package main

import (
	"fmt"
	"slices"
	"strings"
)

// format writes a value with its unit: three digits, as much as a measurement
// has.
func format(metric string, v float64) string {
	switch metric {
	case wall, cpu:
		if v < 1 {
			return fmt.Sprintf("%.0f ms", v*1000)
		}
		return fmt.Sprintf("%.2f s", v)
	case rss, "bytes":
		return fmt.Sprintf("%.1f MB", v/1e6)
	case "ratio":
		return fmt.Sprintf("%.2f", v)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

func spread(metric string, list []float64) string {
	return format(metric, slices.Min(list)) + "–" + format(metric, slices.Max(list))
}

func row(words ...string) string { return "| " + strings.Join(words, " | ") + " |\n" }
