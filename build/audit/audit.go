package audit

import (
	"bytes"
	"context"
	"errors"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// Report is what was found out about one reference.
type Report struct {
	Ref       string // as it was asked for
	Digest    string // that it names
	Platforms []platform.Platform
	Programs  int       // ELF programs that were looked at
	Findings  []Finding // in the order of the index; those that were not checked among them
}

// Wrong is how many findings are decided.
func (r Report) Wrong() int {
	n := 0
	for _, f := range r.Findings {
		if !f.NotChecked {
			n++
		}
	}
	return n
}

// Reference audits what ref, a tag or a digest of repo, names: an index with all
// of its images, or one image. called is how the report names it.
//
// The error is registry.ErrAbsent where ref is not there. Any other one leaves
// the answer open; the report then holds what was found before it.
func Reference(ctx context.Context, repo registry.Repository, ref, called string, o Options) (Report, error) {
	r := &reader{repo: repo, options: o, report: Report{Ref: called}}
	m, err := repo.Manifest(ctx, ref)
	if errors.Is(err, registry.ErrDamaged) {
		r.wrong(platform.Platform{}, fixLost, "%v", err)
		return r.report, nil
	}
	if err != nil {
		return r.report, err
	}
	r.report.Digest = m.Digest.String()
	switch {
	case m.MediaType.IsIndex():
		err = r.index(ctx, m)
	case m.MediaType.IsImage():
		err = r.images(ctx, []*member{{manifest: m, entry: m.Descriptor()}})
	default:
		r.unsure(platform.Platform{}, "%s is neither an image nor an index", m.MediaType)
	}
	return r.report, err
}

// index audits all that an index lists, and how it hangs together.
func (r *reader) index(ctx context.Context, m registry.Manifest) error {
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.Raw))
	if err != nil {
		r.wrong(platform.Platform{}, fixLost, "no index: %v", err)
		return nil
	}
	if index.MediaType != "" && index.MediaType != m.MediaType {
		r.wrong(platform.Platform{}, fixLost, "the index is served as %s, but calls itself %s", m.MediaType, index.MediaType)
	}
	members, err := r.members(ctx, index)
	if err != nil {
		return err
	}
	if len(members) == 0 {
		r.unsure(platform.Platform{}, "the index lists no image")
	}
	r.families(m.MediaType, members)
	r.attestations(index, members)
	err = r.images(ctx, members)
	r.twice(members)
	r.revisions(members)
	r.shared(members)
	return err
}
