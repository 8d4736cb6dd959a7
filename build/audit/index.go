package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// Annotations by which BuildKit's exporter ties an attestation to its image
// (moby/buildkit, docs/attestations/attestation-storage.md).
const (
	referenceType   = "vnd.docker.reference.type"
	referenceDigest = "vnd.docker.reference.digest"
)

// reader reads one reference.
type reader struct {
	repo    registry.Repository
	options Options
	report  Report
}

func (r *reader) wrong(p platform.Platform, fix, form string, args ...any) {
	r.report.Findings = append(r.report.Findings, Finding{Platform: p, Message: fmt.Sprintf(form, args...), Fix: fix})
}

func (r *reader) unsure(p platform.Platform, form string, args ...any) {
	r.report.Findings = append(r.report.Findings, Finding{Platform: p, Message: fmt.Sprintf(form, args...), NotChecked: true})
}

// member is an entry of an index that is for a platform.
type member struct {
	entry    v1.Descriptor
	claimed  platform.Platform // zero: the index does not say
	manifest registry.Manifest
	parsed   *v1.Manifest // nil: no image that could be read
	look     *look        // nil: it was not examined
	err      error
}

// members reads the manifests of all entries. One that is gone is a finding.
func (r *reader) members(ctx context.Context, index *v1.IndexManifest) ([]*member, error) {
	var list []*member
	var errs []error
	for _, d := range index.Manifests {
		m := &member{entry: d}
		if d.Platform != nil {
			m.claimed = named(d.Platform.OS, d.Platform.Architecture, d.Platform.Variant)
		}
		there, err := r.child(ctx, m)
		errs = append(errs, err)
		switch {
		case there && attests(d):
			errs = append(errs, r.attested(ctx, m))
		case there:
			list = append(list, m)
		}
	}
	return list, errors.Join(errs...)
}

// attests reports whether an entry is no platform's: an attestation, or what
// else hides behind unknown/unknown.
func attests(d v1.Descriptor) bool {
	return d.Annotations[referenceType] != "" || d.Platform != nil && d.Platform.OS == "unknown"
}

// child reads an entry's manifest and compares it with what the index says.
func (r *reader) child(ctx context.Context, m *member) (there bool, err error) {
	p := m.claimed
	if attests(m.entry) {
		p = platform.Platform{}
	}
	m.manifest, err = r.repo.Manifest(ctx, m.entry.Digest.String())
	switch {
	case errors.Is(err, registry.ErrAbsent), errors.Is(err, registry.ErrDamaged):
		r.wrong(p, fixLost, "the index lists %s, which is gone", m.entry.Digest)
		return false, nil
	case err != nil:
		return false, err
	}
	if size := int64(len(m.manifest.Raw)); size != m.entry.Size {
		r.wrong(p, fixLost, "the index says that %s has %d bytes, it has %d", m.entry.Digest, m.entry.Size, size)
	}
	if m.manifest.MediaType != m.entry.MediaType {
		r.wrong(p, fixLost, "the index says that %s is %s, it is %s", m.entry.Digest, m.entry.MediaType, m.manifest.MediaType)
	}
	return true, nil
}

// attested asks for the blobs of an attestation. They are not looked into.
func (r *reader) attested(ctx context.Context, m *member) error {
	parsed, err := m.image()
	if err != nil {
		return nil // nothing that this audit knows
	}
	return r.there(ctx, append([]v1.Descriptor{parsed.Config}, parsed.Layers...), func(d v1.Descriptor) {
		r.wrong(platform.Platform{}, fixLost, "%s of the attestation %s is gone", d.Digest, m.entry.Digest)
	})
}

// families compares media types: some registries and scanners refuse a mix.
// Layers are not among them: an OCI manifest over docker's layer types is common
// and works.
func (r *reader) families(index types.MediaType, members []*member) {
	for _, m := range members {
		for _, t := range m.types() {
			if docker(t) != docker(index) {
				r.wrong(m.claimed, "build all legs with one IMAGE_MEDIA_TYPES", "it holds %s, but the index is %s", t, index)
				break
			}
		}
	}
}

func (m *member) types() []types.MediaType {
	list := []types.MediaType{m.manifest.MediaType}
	if parsed, err := m.image(); err == nil {
		list = append(list, parsed.Config.MediaType)
	}
	return list
}

func docker(t types.MediaType) bool {
	return t == types.DockerManifestSchema2 || t == types.DockerConfigJSON || t == types.DockerManifestList
}

// attestations looks whether each names an image of the same index.
func (r *reader) attestations(index *v1.IndexManifest, members []*member) {
	for _, d := range index.Manifests {
		about, ok := d.Annotations[referenceDigest]
		if !ok || !attests(d) {
			continue
		}
		if !slices.ContainsFunc(members, func(m *member) bool { return m.entry.Digest.String() == about }) {
			r.wrong(platform.Platform{}, fixLost, "the attestation %s is about %s, which the index does not list", d.Digest, about)
		}
	}
}

// twice looks for platforms that the index has two images for: whoever pulls
// gets the first.
func (r *reader) twice(members []*member) {
	for i, m := range members {
		p := m.platform()
		again := slices.ContainsFunc(members[:i], func(o *member) bool { return o.platform() == p })
		if again && p != (platform.Platform{}) {
			r.wrong(p, fixPlatform, "the index lists it twice: %s too", m.entry.Digest)
		}
	}
}

// platform is what the index says, else the config.
func (m *member) platform() platform.Platform {
	if m.claimed == (platform.Platform{}) && m.look != nil {
		return m.look.want
	}
	return m.claimed
}

// revisions compares the commits that the images are from.
func (r *reader) revisions(members []*member) {
	var first *member
	for _, m := range members {
		if m.look == nil || !m.look.parsed {
			continue
		}
		if first == nil {
			first = m
		}
		if a, b := m.revision(), first.revision(); a != b {
			r.wrong(m.platform(), "legs of one version come from one commit: build them again",
				"its revision is %s, that of %s is %s", a, first.platform(), b)
		}
	}
}

func (m *member) revision() string {
	if text := m.look.config.Config.Labels[labelRevision]; text != "" {
		return text
	}
	return "none"
}

// shared looks for platforms whose images are one and the same below their
// configs: a base of a single platform, or a binary that was compiled once.
// Images without programs are meant to be.
func (r *reader) shared(members []*member) {
	for i, m := range members {
		if m.layers() == "" || m.look.programs == 0 {
			continue
		}
		for _, o := range members[:i] {
			if o.layers() == m.layers() && o.platform() != m.platform() {
				r.wrong(m.platform(), fixBase, "it has the same layers as %s, and programs in them", o.platform())
				break
			}
		}
	}
}

func (m *member) layers() string {
	if m.look == nil {
		return ""
	}
	var ids []string
	for _, id := range m.look.config.RootFS.DiffIDs {
		ids = append(ids, id.String())
	}
	return strings.Join(ids, " ")
}
