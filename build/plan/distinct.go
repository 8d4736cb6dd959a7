package plan

import (
	"go/build"
	"path/filepath"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// distinct lists the platforms that the go command has to be asked about, and
// for each platform which of them answers for it: the first of its operating
// system, as long as no build constraint of a program names an architecture.
// Most programs have none, and reading them takes a hundredth of asking.
func (s sources) distinct(root string, platforms []platform.Platform) (asked []platform.Platform, as []int) {
	byArch := s.archSpecific(root, platforms)
	as = make([]int, len(platforms))
	for i, p := range platforms {
		as[i] = slices.IndexFunc(asked, func(q platform.Platform) bool { return q.OS == p.OS && !byArch })
		if as[i] < 0 {
			as[i] = len(asked)
			asked = append(asked, p)
		}
	}
	return asked, as
}

// archSpecific reports whether files are chosen by what tells platforms of one
// operating system apart: a constraint, or the end of a name, with one of the
// architectures or a feature of it (arm.7, amd64.v3).
func (s sources) archSpecific(root string, platforms []platform.Platform) bool {
	every := build.Default
	every.UseAllFiles = true // the tags of all are wanted, whatever this machine is
	for dir := range s.dirs {
		// Of code that is broken, or of several packages, there are tags too.
		found, _ := every.ImportDir(filepath.Join(root, filepath.FromSlash(dir)), 0)
		for _, tag := range found.AllTags {
			base, _, _ := strings.Cut(tag, ".")
			if slices.ContainsFunc(platforms, func(p platform.Platform) bool { return p.Arch == base }) {
				return true
			}
		}
	}
	return false
}
