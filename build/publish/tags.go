package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/registry"
)

// move is what will be written of one image: what is not there yet, then its
// tags.
type move struct {
	name     string // of the image
	repo     registry.Repository
	version  string // that the images are of: SOURCE_VERSION
	tags     []string
	same     []bool // per tag: it names the manifest already
	manifest registry.Manifest
	images   []Image                     // in it
	content  func(context.Context) error // puts what the tags need; nil where all is there
}

func newMove(name string, repo registry.Repository, version string, tags []string, m registry.Manifest) *move {
	return &move{name: name, repo: repo, version: version, tags: tags, same: make([]bool, len(tags)), manifest: m}
}

func (m *move) ref(tag string) string { return m.repo.Name() + ":" + tag }

// idle reports whether every tag names the manifest already.
func (m *move) idle() bool { return !slices.Contains(m.same, false) }

// written lists every tag of every move, in order.
func written(moves []*move) []Written {
	var list []Written
	for _, m := range moves {
		platforms := make([]string, len(m.images))
		for i, img := range m.images {
			platforms[i] = img.Platform
		}
		for i, tag := range m.tags {
			list = append(list, Written{
				Image: m.name, Name: m.repo.Name(), Tag: tag,
				Digest: m.manifest.Digest.String(), Platforms: platforms, Moved: !m.same[i],
			})
		}
	}
	return list
}

// entries are the digests of the images that m names; m itself is one where it
// is no index.
func entries(m registry.Manifest) ([]v1.Hash, error) {
	list, err := imageEntries(m)
	digests := make([]v1.Hash, len(list))
	for i, d := range list {
		digests[i] = d.Digest
	}
	return digests, err
}

func imageEntries(m registry.Manifest) ([]v1.Descriptor, error) {
	if !m.MediaType.IsIndex() {
		return []v1.Descriptor{m.Descriptor()}, nil
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return nil, fmt.Errorf("parse index %s: %w", m.Digest, err)
	}
	return images(index), nil
}

// write puts what every move needs, moves every tag, and reads those back.
func write(ctx context.Context, moves []*move, o Options) error {
	rounds := 0
	err := each(moves, o, func(m *move) error {
		if m.content == nil {
			return nil
		}
		return m.content(ctx)
	})
	if err != nil {
		return err
	}
	for _, m := range moves {
		rounds = max(rounds, len(m.tags))
	}
	moved := make([][]bool, len(moves))
	for i, m := range moves {
		moved[i] = make([]bool, len(m.tags))
	}
	for tag := range rounds {
		if err := round(ctx, moves, moved, tag, o); err != nil {
			return partial(moves, moved, err)
		}
	}
	return each(moves, o, func(m *move) error { return m.readBack(ctx) })
}

// round moves one tag of every image. Where one fails, tags of later rounds,
// such as latest, stay where they are for all images.
func round(ctx context.Context, moves []*move, moved [][]bool, tag int, o Options) error {
	errs := make([]error, len(moves))
	var group errgroup.Group
	group.SetLimit(o.jobs())
	for i, m := range moves {
		if tag >= len(m.tags) || m.same[tag] {
			continue
		}
		group.Go(func() error {
			errs[i] = m.repo.PutManifest(ctx, m.tags[tag], m.manifest)
			moved[i][tag] = errs[i] == nil
			return nil
		})
	}
	_ = group.Wait()
	return errors.Join(errs...)
}

// partial tells what moved and what did not. Tags that named the manifest
// before are neither.
func partial(moves []*move, moved [][]bool, err error) error {
	p := &PartialError{Err: err}
	for i, m := range moves {
		for k, tag := range m.tags {
			switch {
			case moved[i][k]:
				p.Moved = append(p.Moved, m.ref(tag))
			case !m.same[k]:
				p.NotMoved = append(p.NotMoved, m.ref(tag))
			}
		}
	}
	if len(p.Moved) == 0 {
		return err
	}
	return p
}

func (m *move) readBack(ctx context.Context) error {
	var errs []error
	for i, tag := range m.tags {
		if m.same[i] {
			continue // it was read to judge the move
		}
		d, err := m.repo.Head(ctx, tag)
		if err == nil && d.Digest != m.manifest.Digest {
			err = fmt.Errorf("read back %s: it names %s, not %s that was written", m.ref(tag), d.Digest, m.manifest.Digest)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// each calls do for every move, several at once, and joins the errors in order.
func each(moves []*move, o Options, do func(*move) error) error {
	errs := make([]error, len(moves))
	var group errgroup.Group
	group.SetLimit(o.jobs())
	for i, m := range moves {
		group.Go(func() error {
			errs[i] = do(m)
			return nil
		})
	}
	_ = group.Wait()
	return errors.Join(errs...)
}
