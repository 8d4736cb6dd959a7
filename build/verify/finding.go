package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// Severity says whether a finding stops a build.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // a wrong image, or none
	Warning Severity = "warning" // right, but fragile or slow
	Off     Severity = "off"     // not reported; of no finding
)

// Finding is one thing that is wrong, at one place. As JSON it has exactly the
// keys below.
type Finding struct {
	Rule      string              `json:"rule"`
	Severity  Severity            `json:"severity"`
	File      string              `json:"file"`  // Dockerfile, slash path from the root of the repository
	Start     dockerfile.Position `json:"start"` // of the instruction that does the wrong thing
	End       dockerfile.Position `json:"end"`   // the column after its last character
	Image     string              `json:"image"` // a name, or several separated by commas
	Platforms []platform.Platform `json:"platforms"`
	Message   string              `json:"message"` // one line: what happens on which platform

	// Fix is what to write instead of the instruction, one line or several. A
	// line that belongs elsewhere begins with the place, as in "after line 2
	// (FROM scratch): ARG TARGETARCH"; of an instruction that cannot be written
	// anew on one line it says the source, as in "bin/a instead of bin/b". ""
	// where nothing can be said.
	Fix string `json:"fix"`
	URL string `json:"url"` // the rule's page

	// Edits are what --fix does for it; nil where there is more than one right
	// answer.
	Edits []Edit `json:"-"`
}

// Edit replaces bytes of a file.
type Edit struct {
	File       string // slash path from the root of the repository
	Start, End int    // offsets in bytes; equal ones insert
	New        string
}

// merge sorts findings and makes one of those that differ in the image alone.
func merge(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(place(a, b), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
			cmp.Compare(a.Fix, b.Fix), comparePlatforms(a, b), cmp.Compare(a.Image, b.Image))
	})
	var out []Finding
	for _, f := range all {
		last := len(out) - 1
		if last >= 0 && place(out[last], f) == 0 && out[last].same(f) {
			if !slices.Contains(strings.Split(out[last].Image, ","), f.Image) {
				out[last].Image += "," + f.Image
			}
			continue
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(place(a, b), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Image, b.Image))
	})
	return out
}

func place(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Start.Line, b.Start.Line), cmp.Compare(a.Start.Column, b.Start.Column))
}

func comparePlatforms(a, b Finding) int {
	return slices.CompareFunc(a.Platforms, b.Platforms, platform.Compare)
}

// same reports whether two findings at one place tell the same.
func (f Finding) same(g Finding) bool {
	return f.Rule == g.Rule && f.Severity == g.Severity && f.Message == g.Message && f.Fix == g.Fix && comparePlatforms(f, g) == 0
}
