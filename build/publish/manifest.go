package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// Manifest joins the legs of each image into an index and moves its tags there.
// It reads everything first: every leg, its config, whether its layers answer,
// and what the tags name now. If anything is missing, wrong or unknown,
// for any image, nothing is written, and all of it is reported: *[MissingError]
// where legs are missing and nothing is unknown.
//
// Then it writes the indexes of all images by digest, then the tags, the first
// of every image before the second of any, and reads them back. A failure
// between two tags is a *[PartialError].
//
// What a tag may be moved to is in rules.go.
func Manifest(ctx context.Context, joins []Join, o Options) ([]Written, error) {
	for _, j := range joins {
		if err := j.check(); err != nil {
			return nil, err
		}
	}
	members, err := readAll(ctx, joins, o)
	if err != nil {
		return nil, err
	}
	moves, err := prepare(ctx, joins, members, o)
	if err != nil {
		return nil, err
	}
	if err := write(ctx, moves, o); err != nil {
		return nil, err
	}
	return written(moves), nil
}

// check refuses joins that no registry is needed to refuse.
func (j Join) check() error {
	what := "join " + j.Image
	if len(j.Legs) == 0 {
		return refuse(what, "no legs")
	}
	seen := map[platform.Platform]bool{}
	for _, leg := range j.Legs {
		if seen[leg.Platform] {
			return refuse(what, "%s is there twice", leg.Platform)
		}
		seen[leg.Platform] = true
	}
	return checkTags(what, j.Tags)
}

// checkTags refuses what is no list of tags.
func checkTags(what string, tags []string) error {
	if len(tags) == 0 {
		return refuse(what, "no tags")
	}
	for i, tag := range tags {
		if err := registry.CheckTag(tag); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if slices.Contains(tags[:i], tag) {
			return refuse(what, "tag %s is there twice", tag)
		}
	}
	return nil
}

// readAll returns the members of each join, in the order of its legs.
func readAll(ctx context.Context, joins []Join, o Options) ([][]*member, error) {
	members, errs := make([][]*member, len(joins)), make([][]error, len(joins))
	var group errgroup.Group
	group.SetLimit(o.jobs())
	for i, j := range joins {
		members[i], errs[i] = make([]*member, len(j.Legs)), make([]error, len(j.Legs))
		for k, leg := range j.Legs {
			group.Go(func() error {
				members[i][k], errs[i][k] = examine(ctx, j, leg, o)
				return nil
			})
		}
	}
	_ = group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var refs []string
	for _, j := range joins {
		for _, leg := range j.Legs {
			refs = append(refs, j.source().Name()+":"+leg.Tag)
		}
	}
	return members, sortOut(&MissingError{}, refs, slices.Concat(errs...))
}

func examine(ctx context.Context, j Join, leg Leg, o Options) (*member, error) {
	m, err := readLeg(ctx, j.source(), leg)
	if err != nil {
		return nil, err
	}
	if err := m.received(j.source().Name(), o); err != nil {
		return nil, err
	}
	if err := hasLayers(ctx, j.source(), m.img, "join "+j.source().Name()+":"+leg.Tag); err != nil {
		return nil, err
	}
	if o.Check != nil {
		err = o.Check(ctx, j, leg, m.img)
	}
	return m, err
}

// sortOut joins what went wrong with what refs names. Missing is only what is
// certain to be all that keeps the rest from being known.
func sortOut(missing *MissingError, refs []string, errs []error) error {
	var others []error
	for i, err := range errs {
		if errors.Is(err, registry.ErrAbsent) {
			missing.Refs = append(missing.Refs, refs[i])
		} else if err != nil {
			others = append(others, err)
		}
	}
	switch {
	case len(missing.Refs) == 0:
		return errors.Join(others...)
	case len(others) == 0:
		return missing
	}
	return errors.Join(append(others, alsoMissing{missing})...)
}

// alsoMissing says what is missing, and what to do, where that is not all.
type alsoMissing struct{ *MissingError }

// prepare makes the indexes, and asks of every tag whether it may be moved.
func prepare(ctx context.Context, joins []Join, members [][]*member, o Options) ([]*move, error) {
	var moves []*move
	var refusals []error
	for i, j := range joins {
		if no := agree(j, members[i], o); len(no) > 0 {
			refusals = append(refusals, no...)
			continue
		}
		index, err := newIndex(members[i])
		if err != nil {
			return nil, err
		}
		m := newMove(j.Image, j.Repo, j.Version, j.Tags, index)
		for _, leg := range members[i] {
			m.images = append(m.images, leg.image())
		}
		m.content = func(ctx context.Context) error {
			if m.idle() {
				return nil
			}
			return j.content(ctx, members[i], index)
		}
		moves = append(moves, m)
	}
	return moves, errors.Join(append(refusals, judge(ctx, moves, o))...)
}

// content puts what the index names where it is not, then the index by its
// digest.
func (j Join) content(ctx context.Context, members []*member, index registry.Manifest) error {
	for _, m := range members {
		if j.From == nil {
			break // they are there
		}
		c := copier{from: j.From, to: j.Repo}
		for _, d := range append([]v1.Descriptor{m.entry}, m.attests...) {
			if err := c.copy(ctx, d.Digest.String()); err != nil {
				return gone("join "+j.source().Name()+":"+m.leg.Tag, err)
			}
		}
	}
	return j.Repo.PutManifest(ctx, index.Digest.String(), index)
}
