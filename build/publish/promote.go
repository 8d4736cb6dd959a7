package publish

import (
	"bytes"
	"context"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/registry"
)

// Promotion is an image whose tags are moved to what its source names.
type Promotion struct {
	Image  string
	Repo   registry.Repository // opened to write
	From   registry.Repository // where set, it holds the source, which is copied; else Repo does
	Source string              // tag, and the version that the tag latest is judged by
	Tags   []string            // shared tags to move

	// Referrers copies from From what signs and attests to the source and to
	// each image in it: OCI referrers, and tags of the form sha256-….sig.
	Referrers bool
}

func (p Promotion) source() registry.Repository {
	if p.From != nil {
		return p.From
	}
	return p.Repo
}

func (p Promotion) ref() string { return p.source().Name() + ":" + p.Source }

// Promote moves the tags of each image to what its source names: the same
// bytes, so the same digest, an index or one image's manifest. Everything is
// read first: the sources, each image in them with its config, whether its
// layers and what attests to it answer, and what the tags name now. If anything
// is missing, wrong or unknown, for any image, nothing is written, and all of
// it is reported: *[MissingError] where sources are missing and nothing is
// unknown. With o.Stays, a tag of what is newer stays, and is not among the
// result. Tags are then moved as [Manifest] moves them, by the same rules.
func Promote(ctx context.Context, list []Promotion, o Options) ([]Written, error) {
	for _, p := range list {
		if err := checkTags("promote "+p.Image, p.Tags); err != nil {
			return nil, err
		}
	}
	moves := make([]*move, len(list))
	refs, errs := make([]string, len(list)), make([]error, len(list))
	var group errgroup.Group
	group.SetLimit(o.jobs())
	for i, p := range list {
		refs[i] = p.ref()
		group.Go(func() error {
			moves[i], errs[i] = p.prepare(ctx, o)
			return nil
		})
	}
	_ = group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := sortOut(&MissingError{source: true}, refs, errs); err != nil {
		return nil, err
	}
	if err := judge(ctx, moves, o); err != nil {
		return nil, err
	}
	if err := write(ctx, moves, o); err != nil {
		return nil, err
	}
	return written(moves), nil
}

// prepare reads the source and checks that it is whole.
func (p Promotion) prepare(ctx context.Context, o Options) (*move, error) {
	m, err := p.source().Manifest(ctx, p.Source)
	if err != nil {
		return nil, err
	}
	mv := newMove(p.Image, p.Repo, p.Source, p.Tags, m)
	if mv.images, err = p.whole(ctx, m, o); err != nil {
		return nil, gone("promote "+p.ref(), err)
	}
	if p.From == nil {
		return mv, nil
	}
	var extra extras
	if p.Referrers {
		digests := []string{m.Digest.String()}
		for _, img := range mv.images {
			digests = append(digests, img.Digest)
		}
		if extra, err = readExtras(ctx, p.From, p.Repo, digests, o); err != nil {
			return nil, gone("promote "+p.ref(), err)
		}
	}
	mv.content = func(ctx context.Context) error {
		c := copier{from: p.From, to: p.Repo}
		if len(mv.tags) == 0 { // all of them stay
			return nil
		}
		if !mv.idle() {
			if err := c.copy(ctx, m.Digest.String()); err != nil {
				return gone("promote "+p.ref(), err)
			}
		}
		return gone("promote "+p.ref(), extra.copy(ctx, &c))
	}
	return mv, nil
}

// whole describes the images of a source, all of which have to be there with
// all their parts.
func (p Promotion) whole(ctx context.Context, m registry.Manifest, o Options) ([]Image, error) {
	what := "promote " + p.ref()
	if !m.MediaType.IsIndex() && !m.MediaType.IsImage() {
		return nil, refuse(what, "%s is neither an index nor an image", m.MediaType)
	}
	list, err := imageEntries(m)
	if err != nil {
		return nil, refuse(what, "%v", err)
	}
	if len(list) == 0 {
		return nil, refuse(what, "it is an index without images")
	}
	found := make([]Image, len(list))
	err = together(ctx, len(list), func(i int) (err error) {
		found[i], err = p.entire(ctx, list[i], o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, p.hasRest(ctx, m)
}

// entire describes one image of a source.
func (p Promotion) entire(ctx context.Context, d v1.Descriptor, o Options) (Image, error) {
	what := "promote " + p.ref()
	is, img, err := describe(ctx, p.source(), d)
	switch {
	case err != nil:
		return is, err
	case is.Absent:
		return is, refuse(what, "it is incomplete: %s %s is not there, or its config is not", is.Platform, is.Digest)
	case img == nil:
		return is, refuse(what, "%s in it is an index again", is.Digest)
	case o.Revision != "" && is.Revision != o.Revision:
		return is, refuse(what, "the revision of %s is %s, not %s", is.Platform, orNone([]string{is.Revision}), o.Revision)
	}
	return is, hasLayers(ctx, p.source(), img, what)
}

// hasRest asks for the entries of an index that are no images, such as
// attestations.
func (p Promotion) hasRest(ctx context.Context, m registry.Manifest) error {
	if !m.MediaType.IsIndex() {
		return nil
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return err
	}
	asked := map[v1.Hash]bool{}
	for _, d := range images(index) {
		asked[d.Digest] = true
	}
	for _, d := range index.Manifests {
		if asked[d.Digest] {
			continue
		}
		if _, err := p.source().Head(ctx, d.Digest.String()); err != nil {
			return fmt.Errorf("attestation: %w", err)
		}
	}
	return nil
}
