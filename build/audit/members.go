package audit

import (
	"bytes"
	"context"
	"errors"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// image parses the manifest of a member that is an image.
func (m *member) image() (*v1.Manifest, error) {
	if m.parsed != nil {
		return m.parsed, nil
	}
	if !m.manifest.MediaType.IsImage() {
		return nil, errors.New(string(m.manifest.MediaType) + " is no image")
	}
	parsed, err := v1.ParseManifest(bytes.NewReader(m.manifest.Raw))
	if err == nil {
		m.parsed = parsed
	}
	return parsed, err
}

// images examines all members, several at once, and reports in their order.
func (r *reader) images(ctx context.Context, members []*member) error {
	var group errgroup.Group
	group.SetLimit(max(r.options.Jobs, 1))
	for _, m := range members {
		group.Go(func() error {
			m.err = r.examine(ctx, m)
			return nil
		})
	}
	_ = group.Wait()
	var errs []error
	for _, m := range members {
		errs = append(errs, m.err)
		r.take(m)
	}
	return errors.Join(errs...)
}

// take adds what was found out about a member to the report.
func (r *reader) take(m *member) {
	p := m.platform()
	if m.look == nil {
		if _, err := m.image(); err != nil {
			r.unsure(p, "%s: %v", m.entry.Digest, err)
		}
		return
	}
	r.report.Findings = append(r.report.Findings, m.look.list()...)
	r.report.Programs += m.look.programs
	if p != (platform.Platform{}) {
		r.report.Platforms = append(r.report.Platforms, p)
	}
	if want := r.options.Revision; want != "" && m.look.parsed && m.revision() != want {
		r.wrong(p, "build the leg from that commit", "its revision is %s, not %s", m.revision(), want)
	}
}

// examine looks into an image. Of one whose layers are not read it asks whether
// they are there.
func (r *reader) examine(ctx context.Context, m *member) error {
	parsed, err := m.image()
	if err != nil {
		return nil // take says so
	}
	img, err := r.repo.Image(ctx, m.manifest.Digest.String())
	if err != nil {
		return err
	}
	m.look, err = examine(ctx, Subject{Image: img, Platform: m.claimed}, r.options)
	m.look.close()
	if err != nil || len(m.look.layers) > 0 {
		return err
	}
	return r.there(ctx, parsed.Layers, func(d v1.Descriptor) {
		m.look.wrong(fixLost, "", "its layer %s is gone", d.Digest)
	})
}

// there calls gone for every blob that is not there.
func (r *reader) there(ctx context.Context, blobs []v1.Descriptor, gone func(v1.Descriptor)) error {
	var errs []error
	for _, d := range blobs {
		if !d.MediaType.IsDistributable() {
			continue
		}
		if err := r.repo.HasBlob(ctx, d.Digest.String()); errors.Is(err, registry.ErrAbsent) {
			gone(d)
		} else if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
