package publish

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/registry"
)

// What a shared tag may be moved to, whoever moves it. Force overrides all of
// it; a tag that names the same bytes already is no move.
//
//   - any tag: not to fewer platforms than it names;
//   - latest: to a stable version alone, and to none that is lower than the one
//     it names, by the version labels of what it names;
//   - a fixed version: written once; platforms may be added to it;
//   - any other tag, which is what branches have: not to an older commit.

// latest is the tag that is kept for the newest stable version.
const latest = "latest"

// judge reads what every tag names now, and says of all that may not be moved
// why not.
func judge(ctx context.Context, moves []*move, o Options) error {
	errs := make([][]error, len(moves))
	var group errgroup.Group
	group.SetLimit(o.jobs())
	for i, m := range moves {
		errs[i] = make([]error, len(m.tags))
		for k := range m.tags {
			group.Go(func() error {
				m.same[k], errs[i][k] = m.allowed(ctx, m.tags[k], o)
				return nil
			})
		}
	}
	_ = group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if o.Stays != nil {
		leave(moves, errs, o.Stays)
	}
	return errors.Join(slices.Concat(errs...)...)
}

// leave takes out of the moves, for all images, each tag that may not be moved
// for one because what is there is newer, and for none for another reason.
func leave(moves []*move, errs [][]error, stays func(tag string, why error)) {
	newer, other := map[string]bool{}, map[string]bool{}
	visit(moves, errs, func(tag string, err error) {
		var no *refusal
		switch {
		case errors.As(err, &no) && no.newer:
			newer[tag] = true
		case err != nil:
			other[tag] = true
		}
	})
	visit(moves, errs, func(tag string, err error) {
		if newer[tag] && !other[tag] && err != nil {
			stays(tag, err)
		}
	})
	for i, m := range moves {
		var tags []string
		var same []bool
		var rest []error
		for k, tag := range m.tags {
			if newer[tag] && !other[tag] {
				continue
			}
			tags, same, rest = append(tags, tag), append(same, m.same[k]), append(rest, errs[i][k])
		}
		m.tags, m.same, errs[i] = tags, same, rest
	}
}

// visit calls f for each tag of each image, in order, with what judges it.
func visit(moves []*move, errs [][]error, f func(tag string, err error)) {
	for i, m := range moves {
		for k, tag := range m.tags {
			f(tag, errs[i][k])
		}
	}
}

// allowed judges one tag; same says that it names m's bytes already.
func (m *move) allowed(ctx context.Context, tag string, o Options) (same bool, err error) {
	present, err := m.repo.Manifest(ctx, tag)
	absent := errors.Is(err, registry.ErrAbsent)
	switch {
	case err != nil && !absent:
		return false, err
	case !absent && present.Digest == m.manifest.Digest:
		return true, nil
	case o.Force:
		return false, nil
	case tag == latest && !stable(m.version):
		no := refuse("move "+m.ref(tag), "%s is no stable version", m.version)
		no.newer = true
		no.hint = "latest takes a full version without a pre-release: SOURCE_VERSION=v1.2.3; " + forceHint
		return false, no
	case absent:
		return false, nil
	}
	if err := m.notFewer(tag, present); err != nil {
		return false, err
	}
	if Fixed(tag) {
		return false, m.once(tag, present)
	}
	old, err := imagesOf(ctx, m.repo, present)
	if err != nil {
		return false, err
	}
	if tag == latest {
		return false, m.notLower(tag, old)
	}
	return false, m.notOlder(ctx, tag, old, o)
}

// notFewer refuses to take platforms away.
func (m *move) notFewer(tag string, present registry.Manifest) error {
	old, err := entries(present)
	if err != nil {
		return refuse("move "+m.ref(tag), "it names something else: %v", err)
	}
	recent, err := entries(m.manifest)
	if err != nil || len(recent) >= len(old) {
		return err
	}
	no := refuse("move "+m.ref(tag), "it names %s, the new index has %d", plural(len(old), "platform"), len(recent))
	no.hint = "join all platforms; " + forceHint
	return no
}

// once refuses to change a fixed version, other than by adding to it.
func (m *move) once(tag string, present registry.Manifest) error {
	old, _ := entries(present) // notFewer has read both
	recent, _ := entries(m.manifest)
	lost := slices.ContainsFunc(old, func(h v1.Hash) bool { return !slices.Contains(recent, h) })
	if len(recent) > len(old) && !lost {
		return nil
	}
	no := refuse("move "+m.ref(tag), "it names %s, the new index is %s", present.Digest, m.manifest.Digest)
	no.hint = "a fixed version is written once; choose a new VERSION, or " + forceHint
	return no
}

// notLower refuses a version below one that the present images say they are.
// What they say and is no version says nothing.
func (m *move) notLower(tag string, old []Image) error {
	for _, img := range old {
		if lower(m.version, img.Version) {
			no := refuse("move "+m.ref(tag), "it names version %s, %s is lower", img.Version, m.version)
			no.newer = true
			no.hint = "latest is the highest version; " + forceHint
			return no
		}
	}
	return nil
}

// notOlder refuses to go back in history.
func (m *move) notOlder(ctx context.Context, tag string, old []Image, o Options) error {
	asked := map[[2]string]bool{} // images of one index are mostly from one commit
	for _, was := range old {
		for _, is := range m.images {
			key := [2]string{is.Revision + " " + is.Created, was.Revision + " " + was.Created}
			if asked[key] {
				continue
			}
			asked[key] = true
			if older(ctx, is, was, o) {
				no := refuse("move "+m.ref(tag), "it names %s, %s is older", was.commit(), is.commit())
				no.newer = true
				no.hint = "build it from a newer commit; " + forceHint
				return no
			}
		}
	}
	return nil
}

// older reports whether a is certainly from an older commit than b: by history
// where that knows both, else by when they say they were created.
func older(ctx context.Context, a, b Image, o Options) bool {
	ra, rb := strings.TrimSuffix(a.Revision, dirty), strings.TrimSuffix(b.Revision, dirty)
	if ra != "" && rb != "" {
		switch {
		case ra == rb:
			return false
		case o.Before != nil && o.Before(ctx, ra, rb):
			return true
		case o.Before != nil && o.Before(ctx, rb, ra):
			return false
		}
	}
	ta, okA := a.time()
	tb, okB := b.time()
	return okA && okB && ta.Before(tb)
}

// time is when the image says it was created. The beginning of Unix time is what
// builders write who do not know.
func (i Image) time() (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, i.Created)
	return t, err == nil && t.Unix() != 0
}

// dirty ends the revision of a tree with changes.
const dirty = "-dirty"

// commit is how an image's origin is named in a refusal.
func (i Image) commit() string {
	switch {
	case i.Revision == "":
		return "what was created " + i.Created
	case i.Created == "":
		return "revision " + i.Revision
	}
	return "revision " + i.Revision + " of " + i.Created
}
