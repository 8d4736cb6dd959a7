package verify

import (
	"regexp"
	"strings"
)

// singlePlatformDigest is SinglePlatformDigest. A digest that fits the only
// platform, or the only architecture, is right.
func singlePlatformDigest(s *state) []Finding {
	var wrong []spot
	for _, w := range s.wanted() {
		if !w.has.Index && w.pinned() && w.misfits() {
			wrong = append(wrong, spot{w.r, w.ins, "the image for " + w.only().String() + ", the only one that " + w.base.Ref + " names"})
		}
	}
	var list []Finding
	for _, group := range bySpot(wrong) {
		f := s.found(group, "gets", "get")
		if !group[0].ins.OnBuild {
			f.Fix = withIndex(group[0])
		}
		list = append(list, f)
	}
	return list
}

var pinnedPattern = regexp.MustCompile(`[^\s=]+(@sha256:[0-9a-f]{64})`)

// withIndex says what to name, "" where an argument holds the digest.
func withIndex(at spot) string {
	m := pinnedPattern.FindStringSubmatch(at.ins.Text)
	if m == nil {
		return ""
	}
	return strings.TrimSuffix(m[0], m[1]) + "@<digest of the index> instead of " + m[0]
}
