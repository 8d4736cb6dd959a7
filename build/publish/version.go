package publish

import (
	"cmp"
	"regexp"
)

var (
	// semver is the grammar of semver.org 2.0.0 without build metadata, whose +
	// no tag can hold, and with the v that Go and git tags have.
	semver = regexp.MustCompile(`^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?$`)
	// described is what git describe adds to a tag that lies behind HEAD, and
	// to a tree with changes.
	described = regexp.MustCompile(`-\d+-g[0-9a-f]{4,}(-|$)|-dirty(-|$)`)
	commit    = regexp.MustCompile(`^sha-[0-9a-f]+$`)
)

// Fixed reports whether a version names one build for ever: a full semantic
// version, with or without v, or sha-<hex>. What git describe makes of an
// untagged commit or a changed tree is not fixed, nor is any other word.
func Fixed(version string) bool {
	return commit.MatchString(version) || semver.MatchString(version) && !described.MatchString(version)
}

// stable reports whether a version is a full one without a pre-release.
func stable(version string) bool {
	parts := semver.FindStringSubmatch(version)
	return parts != nil && parts[4] == ""
}

// lower reports whether a stable version comes before another one (semver.org
// 2.0.0, §11). Where either is no version, it does not. A stable version comes
// before no pre-release of itself, so the three numbers decide.
func lower(version, than string) bool {
	a, b := semver.FindStringSubmatch(version), semver.FindStringSubmatch(than)
	if a == nil || b == nil {
		return false
	}
	for i := 1; i <= 3; i++ {
		// Without leading zeros, the longer number is the larger, of any size.
		if c := cmp.Or(cmp.Compare(len(a[i]), len(b[i])), cmp.Compare(a[i], b[i])); c != 0 {
			return c < 0
		}
	}
	return false
}
