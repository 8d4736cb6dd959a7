package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest lists up to three of known that word may have been meant to be,
// nearest first.
func Nearest(word string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, k := range known {
		d := levenshtein.Distance(strings.ToLower(word), strings.ToLower(k), nil)
		if d <= max(2, len(word)/3) || len(word) > 2 && strings.Contains(k, word) {
			near = append(near, candidate{k, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, c := range near[:min(len(near), 3)] {
		names = append(names, c.name)
	}
	return names
}
