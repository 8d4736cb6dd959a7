package plan

import (
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// LegTag is the tag of one leg: form with {version}, {os}, {arch} and {variant}
// filled in. A version that already ends in this leg's suffix, as a CI job on
// one architecture may pass it, is the tag as it is.
func LegTag(form, version string, p platform.Platform) string {
	if suffix := legSuffix(form, p); suffix != "" && strings.HasSuffix(version, suffix) {
		return version
	}
	return strings.ReplaceAll(p.Expand(form, ""), "{version}", version)
}

// BaseVersion is version without the suffix of a leg, where it has one: what
// labels and binaries carry.
func BaseVersion(form, version string) string {
	if p, found := legOf(form, version); found {
		return strings.TrimSuffix(version, legSuffix(form, p))
	}
	return version
}

// CheckVersion refuses a version that names one leg where another, or several,
// are planned: its tag would hold what it does not say.
func CheckVersion(form, version string, planned []platform.Platform) error {
	p, found := legOf(form, version)
	switch {
	case !found || len(planned) == 1 && planned[0] == p:
		return nil
	case !slices.Contains(planned, p):
		return usage("VERSION "+version, "set IMAGE_PLATFORMS="+p.String()+", or leave the suffix out",
			"ends in the suffix of %s, which is not among the platforms", p)
	}
	return usage("VERSION "+version, "leave the suffix out: each leg gets its own, or set IMAGE_PLATFORMS="+p.String(),
		"ends in the suffix of %s while %d platforms are planned", p, len(planned))
}

// legSuffix is what form puts behind the version; "" where the version is not
// first in it.
func legSuffix(form string, p platform.Platform) string {
	suffix, first := strings.CutPrefix(form, "{version}")
	if !first {
		return ""
	}
	return p.Expand(suffix, "")
}

// legOf is the platform whose suffix version ends in: the longest one, since
// -arm64 is no suffix of -arm but the reverse could be with another form.
func legOf(form, version string) (best platform.Platform, found bool) {
	for _, p := range platform.Images() {
		suffix := legSuffix(form, p)
		if suffix != "" && strings.HasSuffix(version, suffix) && len(suffix) > len(legSuffix(form, best)) {
			best, found = p, true
		}
	}
	return best, found
}
