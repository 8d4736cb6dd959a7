package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/registry"
)

// entries are the digests of the images that m names; m itself is one where it
// is no index.
func entries(m registry.Manifest) ([]v1.Hash, error) {
	if !m.MediaType.IsIndex() {
		return []v1.Hash{m.Digest}, nil
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return nil, err
	}
	var list []v1.Hash
	for _, d := range images(index) {
		list = append(list, d.Digest)
	}
	return list, nil
}

// write puts every index, moves every tag, and reads every tag back.
func write(ctx context.Context, moves []move, o Options) error {
	rounds := 0
	err := each(moves, o, func(m move) error {
		return m.join.Repo.PutManifest(ctx, m.index.Digest.String(), m.index)
	})
	if err != nil {
		return err
	}
	for _, m := range moves {
		rounds = max(rounds, len(m.join.Tags))
	}
	moved := make([][]bool, len(moves))
	for i, m := range moves {
		moved[i] = make([]bool, len(m.join.Tags))
	}
	for tag := range rounds {
		if err := round(ctx, moves, moved, tag, o); err != nil {
			return partial(moves, moved, err)
		}
	}
	return each(moves, o, func(m move) error { return m.readBack(ctx) })
}

// round moves one tag of every image. Where one fails, tags of later rounds,
// such as latest, stay where they are for all images.
func round(ctx context.Context, moves []move, moved [][]bool, tag int, o Options) error {
	errs := make([]error, len(moves))
	var group errgroup.Group
	group.SetLimit(o.jobs())
	for i, m := range moves {
		if tag >= len(m.join.Tags) || m.same[tag] {
			continue
		}
		group.Go(func() error {
			errs[i] = m.join.Repo.PutManifest(ctx, m.join.Tags[tag], m.index)
			moved[i][tag] = errs[i] == nil
			return nil
		})
	}
	_ = group.Wait()
	return errors.Join(errs...)
}

// partial tells what moved and what did not. Tags that named the index before
// are neither.
func partial(moves []move, moved [][]bool, err error) error {
	p := &PartialError{Err: err}
	for i, m := range moves {
		for k := range m.join.Tags {
			switch {
			case moved[i][k]:
				p.Moved = append(p.Moved, m.ref(k))
			case !m.same[k]:
				p.NotMoved = append(p.NotMoved, m.ref(k))
			}
		}
	}
	if len(p.Moved) == 0 {
		return err
	}
	return p
}

func (m move) readBack(ctx context.Context) error {
	var errs []error
	for k, tag := range m.join.Tags {
		d, err := m.join.Repo.Head(ctx, tag)
		if err == nil && d.Digest != m.index.Digest {
			err = fmt.Errorf("read back %s: it names %s, not %s that was written", m.ref(k), d.Digest, m.index.Digest)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// each calls do for every move, several at once, and joins the errors in order.
func each(moves []move, o Options, do func(move) error) error {
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
