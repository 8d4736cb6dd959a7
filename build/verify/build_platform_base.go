package verify

import (
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// buildPlatformBase is BuildPlatformBase. BuildKit labels the image with the
// target platform all the same, and with scratch there is nothing to be wrong.
func buildPlatformBase(s *state) []Finding {
	var wrong []spot
	for _, r := range s.judged() {
		st := root(r)
		if st == nil {
			continue
		}
		switch {
		case st.HostBound && s.mixed():
			wrong = append(wrong, spot{r, &st.From, "the " + st.Expanded + " of the machine that builds, one for platforms that need different ones"})
		case !st.HostBound && !serves(st.For, r.Platform):
			wrong = append(wrong, spot{r, &st.From, "the " + st.Expanded + " of " + st.For.String()})
		}
	}
	var list []Finding
	for _, group := range bySpot(wrong) {
		f := s.found(group, "gets", "get")
		f.Fix = withoutPlatform(group[0].ins)
		list = append(list, f)
	}
	return list
}

// mixed reports whether the image is for several architectures. One alone may
// well be that of the machine that builds, wherever this one is.
func (s *state) mixed() bool {
	all := s.platforms()
	return slices.ContainsFunc(all, func(p platform.Platform) bool { return p.OS != all[0].OS || p.Arch != all[0].Arch })
}

// serves reports whether a base for have is one for want: the same architecture
// in the same or a lower variant.
func serves(have, want platform.Platform) bool { return have.OS == want.OS && runs(have, want) }

// withoutPlatform is a FROM that takes the platform of the image.
func withoutPlatform(from *dockerfile.Instruction) string {
	return oneLine(from, func(w string) string {
		if strings.HasPrefix(w, "--platform=") {
			return ""
		}
		return w
	})
}
