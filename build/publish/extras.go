package publish

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/registry"
)

// signatureTags are what cosign 2 puts behind the digest of what it signs, with
// a dash in place of the colon, and under which it looks for signatures,
// attestations and SBOMs.
var signatureTags = []string{".sig", ".att", ".sbom"}

// mostReferrers is more than anything has that is not made to be endless.
const mostReferrers = 10_000

// extras are what signs and attests to a source: read, and not yet copied.
type extras struct {
	referrers []referrers
	tags      []tagged
}

// referrers refer to one subject.
type referrers struct {
	subject string
	list    []v1.Descriptor
}

// tagged is a manifest that is found by its tag.
type tagged struct {
	tag      string
	manifest registry.Manifest
}

// readExtras finds what signs and attests to each of digests, and what refers to
// that in turn. A tag at the destination that holds a signature which the
// source's has not is refused: copying would lose it.
func readExtras(ctx context.Context, from, to registry.Repository, digests []string, o Options) (extras, error) {
	var all extras
	for _, digest := range digests {
		for _, suffix := range signatureTags {
			tag := strings.Replace(digest, ":", "-", 1) + suffix
			m, err := from.Manifest(ctx, tag)
			if errors.Is(err, registry.ErrAbsent) {
				continue
			}
			if err == nil && !o.Force {
				err = keepsAll(ctx, to, tag, m)
			}
			if err != nil {
				return all, err
			}
			all.tags = append(all.tags, tagged{tag, m})
		}
	}
	return all, all.follow(ctx, from, slices.Clone(digests))
}

// follow lists the referrers of subjects, and theirs.
func (e *extras) follow(ctx context.Context, from registry.Repository, subjects []string) error {
	seen := map[string]bool{}
	for i := 0; i < len(subjects); i++ {
		if seen[subjects[i]] {
			continue
		}
		seen[subjects[i]] = true
		list, err := from.Referrers(ctx, subjects[i])
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		e.referrers = append(e.referrers, referrers{subjects[i], list})
		for _, d := range list {
			subjects = append(subjects, d.Digest.String())
		}
		if len(subjects) > mostReferrers {
			return refuse("list referrers of "+from.Name()+"@"+subjects[0], "more than %d", mostReferrers)
		}
	}
	return nil
}

// keepsAll refuses to replace a signature tag by one that holds less.
func keepsAll(ctx context.Context, to registry.Repository, tag string, m registry.Manifest) error {
	present, err := to.Manifest(ctx, tag)
	if errors.Is(err, registry.ErrAbsent) || err == nil && present.Digest == m.Digest {
		return nil
	}
	if err != nil {
		return err
	}
	old, errOld := holds(present)
	recent, errNew := holds(m)
	lost := slices.ContainsFunc(old, func(h v1.Hash) bool { return !slices.Contains(recent, h) })
	if errOld == nil && errNew == nil && !lost {
		return nil
	}
	no := refuse("move "+to.Name()+":"+tag, "it holds what the source's does not")
	no.hint = "copy that to the source first; " + forceHint
	return no
}

// holds are the digests that a manifest lists.
func holds(m registry.Manifest) ([]v1.Hash, error) {
	if m.MediaType.IsIndex() {
		return entries(m)
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return nil, err
	}
	var list []v1.Hash
	for _, l := range manifest.Layers {
		list = append(list, l.Digest)
	}
	return list, nil
}

// copy copies all of it. Tags are moved once what they name is there.
func (e extras) copy(ctx context.Context, c *copier) error {
	for _, r := range e.referrers {
		for _, d := range r.list {
			if err := c.copy(ctx, d.Digest.String()); err != nil {
				return err
			}
		}
		if err := c.to.AddReferrers(ctx, r.subject, r.list); err != nil {
			return err
		}
	}
	for _, t := range e.tags {
		if err := c.copy(ctx, t.manifest.Digest.String()); err != nil {
			return err
		}
		if err := c.to.PutManifest(ctx, t.tag, t.manifest); err != nil {
			return err
		}
	}
	return nil
}
