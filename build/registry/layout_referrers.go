package registry

import (
	"bytes"
	"context"
	"maps"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// In a layout a referrer is an entry of index.json without a tag: readers of
// layouts follow every entry to its subject, so they find it from there. Those
// that other tools have put into an index under the fallback's tag count too.

// Referrers implements [Repository].
func (l *layout) Referrers(ctx context.Context, digest string) ([]v1.Descriptor, error) {
	list, err := taggedReferrers(ctx, l, digest)
	if err != nil {
		return nil, err
	}
	index, err := l.index()
	if err != nil {
		return nil, l.fail("list referrers of", digest, err)
	}
	for _, d := range index.Manifests {
		if untagged(d) && l.subject(d).String() == digest && !lists(list, d) {
			list = append(list, d)
		}
	}
	return list, nil
}

// AddReferrers implements [Repository]. What does not name its subject itself
// is listed under the fallback's tag.
func (l *layout) AddReferrers(ctx context.Context, digest string, list []v1.Descriptor) error {
	var own, others []v1.Descriptor
	for _, d := range list {
		if l.subject(d).String() == digest {
			own = append(own, d)
		} else {
			others = append(others, d)
		}
	}
	if err := l.addEntries(own); err != nil {
		return l.fail("list referrers of", digest, err)
	}
	if len(others) == 0 {
		return nil
	}
	return tagReferrers(ctx, l, digest, others)
}

// addEntries makes entries without a tag, sorted by digest.
func (l *layout) addEntries(list []v1.Descriptor) error {
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer unlock()
	index, err := l.index()
	if err != nil {
		return err
	}
	before := len(index.Manifests)
	for _, d := range list {
		m, err := l.read(d)
		if err == nil {
			err = l.complete(m)
		}
		if err != nil {
			return err
		}
		d.Annotations = maps.Clone(d.Annotations)
		delete(d.Annotations, refName)
		if !slices.ContainsFunc(index.Manifests, func(h v1.Descriptor) bool { return untagged(h) && h.Digest == d.Digest }) {
			index.Manifests = append(index.Manifests, d)
		}
	}
	if len(index.Manifests) == before {
		return nil
	}
	sortEntries(index)
	return l.putIndex(index)
}

// dropOrphans takes out of index the entries without a tag whose subject no tag
// leads to any more, and returns them. Where that is not known, none.
func (l *layout) dropOrphans(index *v1.IndexManifest) []v1.Descriptor {
	keep := map[v1.Hash]bool{}
	var kept, left []v1.Descriptor
	for _, d := range index.Manifests {
		if untagged(d) && l.subject(d) != (v1.Hash{}) {
			left = append(left, d)
			continue
		}
		if !l.mark(d, keep) {
			return nil
		}
		kept = append(kept, d)
	}
	for again := true; again; { // a referrer may be another's subject
		again = false
		left = slices.DeleteFunc(left, func(d v1.Descriptor) bool {
			if !keep[l.subject(d)] {
				return false
			}
			kept, again = append(kept, d), true
			l.mark(d, keep)
			return true
		})
	}
	index.Manifests = kept
	sortEntries(index)
	return left
}

// subject is what the manifest of an entry refers to; zero where it refers to
// nothing, or cannot be read.
func (l *layout) subject(d v1.Descriptor) v1.Hash {
	m, err := l.read(d)
	if err != nil {
		return v1.Hash{}
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(m.Raw))
	if err != nil || manifest.Subject == nil {
		return v1.Hash{}
	}
	return manifest.Subject.Digest
}

func untagged(d v1.Descriptor) bool { return d.Annotations[refName] == "" }

func lists(list []v1.Descriptor, d v1.Descriptor) bool {
	return slices.ContainsFunc(list, func(h v1.Descriptor) bool { return h.Digest == d.Digest })
}
