package build

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/rootfs"
	"github.com/archmage-go/archmage/build/sbom"
)

// sbomLabel tells the SBOM that archmage attached to a leg from those of others,
// as an annotation of its manifest.
const sbomLabel = "io.github.archmage-go.sbom"

// made is a leg that is published, with what is known of it.
type made struct {
	receipt  publish.Receipt
	image    v1.Image        // nil: it was there before anything was built
	contents *audit.Contents // nil: nobody looked
	base     sbom.Base
	sbom     *attachment // nil: there is none yet
}

// attachment is an SBOM that is made, and sent where it was worth that.
type attachment struct {
	registry.Artifact
	err error
}

// lists reports whether what an image holds has to be listed: its SBOM is not
// known to be attached. It costs no request.
func (l legs) lists(ctx context.Context, leg plan.Leg, img v1.Image) (bool, error) {
	if !l.SBOM {
		return false, nil
	}
	push, err := l.push(leg)
	if err != nil {
		return false, err
	}
	h, err := img.Digest()
	if err != nil {
		return false, err
	}
	if l.repos.remote {
		return !l.attachedBefore(push, h.String()), nil
	}
	there, err := hasSBOM(ctx, push.Repo, h.String())
	return !there, err
}

// attach writes the SBOM of a leg beside it, unless it is there. A registry is
// asked whether it is only for a leg that was there already and of which nothing
// is remembered.
func (l legs) attach(ctx context.Context, leg plan.Leg, push publish.Push, m made) error {
	digest := m.receipt.Digest
	if l.SBOM && digest == "" { // foretold
		l.console.Would("attach", "SBOM to "+push.Repo.Name()+":"+push.Leg.Tag)
		return nil
	}
	if !l.SBOM || !types.MediaType(m.receipt.MediaType).IsImage() || l.repos.remote && l.attachedBefore(push, digest) {
		return nil
	}
	there, err := false, error(nil)
	if m.receipt.State == publish.Published {
		there, err = hasSBOM(ctx, push.Repo, digest)
	}
	if err == nil && !there {
		err = l.writeSBOM(ctx, leg, push, m)
	}
	if err != nil {
		return &sbomError{fmt.Errorf("image %s %s: SBOM: %w", leg.Image, leg.Platform, err)}
	}
	if l.repos.remote {
		l.blobs.Facts.Put(sbomKey(push, digest), nil)
	}
	return nil
}

func sbomKey(push publish.Push, digest string) string {
	return "sbom " + sbom.Version + " of " + push.Repo.Name() + "@" + digest
}

// attachedBefore reports whether this user's archmage has attached the SBOM, or
// seen it. With IMAGE_FORCE nobody relies on that.
func (l legs) attachedBefore(push publish.Push, digest string) bool {
	_, known := l.blobs.Facts.Get(sbomKey(push, digest))
	return known && !l.Force
}

func hasSBOM(ctx context.Context, repo registry.Repository, digest string) (bool, error) {
	list, err := repo.Referrers(ctx, digest)
	return slices.ContainsFunc(list, func(d v1.Descriptor) bool { return d.Annotations[sbomLabel] == sbom.Version }), err
}

// beside makes the SBOM of a leg and sends it while the leg is sent: nil where
// nobody knows yet whether there will be one.
func (l legs) beside(leg plan.Leg, push publish.Push, m *made) func(context.Context, publish.Receipt) {
	if m.contents == nil || !l.repos.remote {
		return nil
	}
	return func(ctx context.Context, r publish.Receipt) {
		m.receipt = r
		one := &attachment{}
		if one.Artifact, one.err = l.artifact(ctx, leg, push, *m); one.err == nil {
			one.err = one.Send(ctx, push.Repo)
		}
		m.sbom = one
	}
}

// writeSBOM attaches the SBOM, which is made where it is not yet.
func (l legs) writeSBOM(ctx context.Context, leg plan.Leg, push publish.Push, m made) error {
	one := m.sbom
	if one == nil {
		one = &attachment{}
		one.Artifact, one.err = l.artifact(ctx, leg, push, m)
	}
	if one.err != nil {
		return one.err
	}
	return one.Attach(ctx, push.Repo)
}

// artifact makes the SBOM.
func (l legs) artifact(ctx context.Context, leg plan.Leg, push publish.Push, m made) (a registry.Artifact, err error) {
	if m.image == nil {
		if m.image, err = push.Repo.Image(ctx, m.receipt.Digest); err != nil {
			return a, err
		}
	}
	if m.contents == nil {
		c, _, err := audit.ImageContents(ctx, audit.Subject{Image: m.image, Platform: leg.Platform}, l.reading())
		if err != nil {
			return a, err
		}
		m.contents = &c
	}
	config, err := m.image.ConfigFile()
	if err != nil {
		return a, err
	}
	if m.base == (sbom.Base{}) {
		m.base = sbom.Base{Ref: config.Config.Labels[labelBase], Digest: config.Config.Labels[labelDigest]}
	}
	about := sbom.Image{
		Name: leg.Image, Digest: m.receipt.Digest, Platform: leg.Platform, Created: config.Created.Time, Base: m.base, Contents: *m.contents,
	}
	if l.repos.remote {
		about.Repository = push.Repo.Name()
	}
	data, err := sbom.Document(about)
	if err != nil {
		return a, err
	}
	size, err := m.image.Size()
	if err != nil {
		return a, err
	}
	h, err := v1.NewHash(m.receipt.Digest)
	if err != nil {
		return a, err
	}
	return registry.Artifact{
		Subject: v1.Descriptor{MediaType: types.MediaType(m.receipt.MediaType), Size: size, Digest: h},
		Type:    sbom.MediaType, File: leg.Image + "-" + leg.Platform.Suffix() + ".spdx.json", Data: data,
		Annotations: map[string]string{sbomLabel: sbom.Version},
	}, nil
}

// reading is what looking into a leg may make use of.
func (l legs) reading() audit.Options {
	return audit.Options{Indexes: rootfs.Indexes(l.cache(cacheLayers)), Facts: l.blobs.Facts}
}

// sbomBase is what a recipe's image was built on; zero where that is scratch or
// not known.
func sbomBase(r *dockerfile.Recipe) sbom.Base {
	if r.FinalBase == nil {
		return sbom.Base{}
	}
	return sbom.Base{Ref: r.FinalBase.Ref, Digest: r.FinalBase.Digest}
}

// sbomError is a leg that is published, and its SBOM is not.
type sbomError struct{ error }

func (e *sbomError) Unwrap() error { return e.error }

// Hint is the line to show below the error; "" where the registry was not
// reached, which says nothing about SBOMs.
func (e *sbomError) Hint() string {
	if errors.Is(e.error, context.Canceled) {
		return ""
	}
	return "run it again: the leg itself is published; IMAGE_SBOM=false publishes none"
}
