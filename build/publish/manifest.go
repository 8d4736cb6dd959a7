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
// An index with fewer images never replaces one with more, and under a fixed
// version nothing that is published changes, though platforms may be added,
// unless forced.
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
	var list []Written
	for _, m := range moves {
		list = append(list, m.written()...)
	}
	return list, nil
}

// check refuses joins that no registry is needed to refuse.
func (j Join) check() error {
	what := "join " + j.Image
	if len(j.Legs) == 0 || len(j.Tags) == 0 {
		return refuse(what, "no legs or no tags")
	}
	seen := map[platform.Platform]bool{}
	for _, leg := range j.Legs {
		if seen[leg.Platform] {
			return refuse(what, "%s is there twice", leg.Platform)
		}
		seen[leg.Platform] = true
	}
	for i, tag := range j.Tags {
		if err := registry.CheckTag(tag); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if slices.Contains(j.Tags[:i], tag) {
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
	return members, sortOut(joins, errs)
}

func examine(ctx context.Context, j Join, leg Leg, o Options) (*member, error) {
	m, err := readLeg(ctx, j.Repo, leg)
	if err != nil {
		return nil, err
	}
	if err := m.hasLayers(ctx, j.Repo); err != nil {
		return nil, err
	}
	if o.Check != nil {
		err = o.Check(ctx, j, leg, m.img)
	}
	return m, err
}

// sortOut joins what went wrong. Missing legs are a *MissingError only where
// they are certain to be all that keeps the rest from being known.
func sortOut(joins []Join, errs [][]error) error {
	missing := &MissingError{}
	var others []error
	for i, j := range joins {
		for k, err := range errs[i] {
			if errors.Is(err, registry.ErrAbsent) {
				missing.Legs = append(missing.Legs, j.Repo.Name()+":"+j.Legs[k].Tag)
			} else if err != nil {
				others = append(others, err)
			}
		}
	}
	switch {
	case len(missing.Legs) == 0:
		return errors.Join(others...)
	case len(others) == 0:
		return missing
	}
	return errors.Join(append(others, errors.New(missing.Error()))...)
}

// move is what one join will write.
type move struct {
	join  Join
	index registry.Manifest
	same  []bool // per tag: it names the index already
}

func (m move) ref(tag int) string { return m.join.Repo.Name() + ":" + m.join.Tags[tag] }

func (m move) written() []Written {
	platforms := make([]platform.Platform, len(m.join.Legs))
	for i, leg := range m.join.Legs {
		platforms[i] = leg.Platform
	}
	var list []Written
	for i, tag := range m.join.Tags {
		list = append(list, Written{
			Image: m.join.Image, Name: m.join.Repo.Name(), Tag: tag,
			Digest: m.index.Digest.String(), Platforms: platforms, Moved: !m.same[i],
		})
	}
	return list
}

// prepare makes the indexes, and asks of every tag whether it may be moved.
func prepare(ctx context.Context, joins []Join, members [][]*member, o Options) ([]move, error) {
	moves, errs := make([]move, len(joins)), make([][]error, len(joins))
	var group errgroup.Group
	group.SetLimit(o.jobs())
	for i, j := range joins {
		errs[i] = agree(j, members[i], o)
		if len(errs[i]) > 0 {
			continue
		}
		index, err := newIndex(members[i])
		if err != nil {
			return nil, err
		}
		moves[i] = move{join: j, index: index, same: make([]bool, len(j.Tags))}
		errs[i] = make([]error, len(j.Tags))
		for k := range j.Tags {
			group.Go(func() error {
				moves[i].same[k], errs[i][k] = moves[i].allowed(ctx, k, o)
				return nil
			})
		}
	}
	_ = group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return moves, errors.Join(slices.Concat(errs...)...)
}

// allowed reads what a tag names now.
func (m move) allowed(ctx context.Context, tag int, o Options) (same bool, err error) {
	present, err := m.join.Repo.Manifest(ctx, m.join.Tags[tag])
	switch {
	case errors.Is(err, registry.ErrAbsent):
		return false, nil
	case err != nil:
		return false, err
	case present.Digest == m.index.Digest:
		return true, nil
	case o.Force:
		return false, nil
	}
	old, err := entries(present)
	if err != nil {
		return false, refuse("move "+m.ref(tag), "it names something else: %v", err)
	}
	recent, err := entries(m.index)
	if err != nil {
		return false, err
	}
	if len(recent) < len(old) {
		no := refuse("move "+m.ref(tag), "it names %s, the new index has %d", plural(len(old), "platform"), len(recent))
		no.hint = "join all platforms; " + forceHint
		return false, no
	}
	grown := len(recent) > len(old) && !slices.ContainsFunc(old, func(h v1.Hash) bool { return !slices.Contains(recent, h) })
	if Fixed(m.join.Tags[tag]) && !grown {
		no := refuse("move "+m.ref(tag), "it names %s, the new index is %s", present.Digest, m.index.Digest)
		no.hint = "a fixed version is written once; choose a new VERSION, or " + forceHint
		return false, no
	}
	return false, nil
}
