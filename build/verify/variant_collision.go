package verify

import (
	"slices"

	"github.com/archmage-go/archmage/build/platform"
)

// collides is VariantCollision: a command's binary without variant, where more
// than one variant of its architecture is planned.
func collides(s *state, t *take) bool {
	p := t.r.Platform
	name, of, ok := s.bin.parse(t.path)
	if !ok || of.Variant != "" || of.Arch != p.Arch || s.bin.variants(p) < 2 {
		return false
	}
	if !s.bin.command(name) && s.files.exists(t.path) || !s.inImage(t) {
		return false
	}
	if s.bin.makes(t.path, p) {
		return s.sharedByVariants(t)
	}
	bare := platform.Platform{OS: p.OS, Arch: p.Arch}
	return t.path == bare.Expand(s.bin.form, name)
}

// sharedByVariants is for the variant that has no name, such as linux/amd64
// beside linux/amd64/v3: its path is its own unless another takes it too.
func (s *state) sharedByVariants(t *take) bool {
	p := t.r.Platform
	return slices.ContainsFunc(s.takes, func(o *take) bool {
		q := o.r.Platform
		return q != p && q.OS == p.OS && q.Arch == p.Arch && o.path == t.path && !s.bin.makes(o.path, q) && s.inImage(o)
	})
}

func tellCollision(s *state, list []*take) (message, fix string) {
	p := list[0].r.Platform
	var planned []platform.Platform
	for _, q := range s.bin.planned {
		if q.OS == p.OS && q.Arch == p.Arch {
			planned = append(planned, q)
		}
	}
	message = whoCopies(list, itsPath) + ", but " + names(planned) + " need one each"
	return message, s.rewrite(list, s.archVariable)
}
