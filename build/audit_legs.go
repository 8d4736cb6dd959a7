package build

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
)

// audit judges what was built, whoever built it, before anybody else sees it,
// and fills in its contents where they are asked for. An image in which this
// program found nothing wrong before is not judged again.
func (l legs) audit(ctx context.Context, leg plan.Leg, r *dockerfile.Recipe, m made) error {
	what := "image " + leg.Image
	s := audit.Subject{Image: m.image, Platform: leg.Platform, Base: l.auditBase(r)}
	key, err := l.auditKey(s)
	if _, fine := l.blobs.Facts.Get(key); err == nil && fine && key != "" && m.contents == nil {
		return nil
	}
	var found []audit.Finding
	switch {
	case err != nil:
	case m.contents == nil:
		found, err = audit.Image(ctx, s, l.reading())
	default:
		*m.contents, found, err = audit.ImageContents(ctx, s, l.reading())
	}
	if err != nil {
		return fmt.Errorf("%s %s: audit: %w", what, leg.Platform, err)
	}
	if key != "" && audit.Wrong(found) == nil {
		l.blobs.Facts.Put(key, nil)
	}
	return l.refuse(what, found)
}

// auditKey names all that an audit's answer depends on, this program among it; ""
// where it cannot be told apart from others.
func (l legs) auditKey(s audit.Subject) (string, error) {
	digest, err := s.Image.Digest()
	if err != nil || l.auditor == "" {
		return "", err
	}
	base := "unknown"
	if s.Base != nil {
		base = fmt.Sprintf("%x", sha256.Sum256(s.Base.Config))
	}
	return fmt.Sprintf("audit %s %s %s %s", digest, s.Platform, base, l.auditor), nil
}

// auditor names the running program: its version does not while it is worked on.
func auditor() string {
	file, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", ReadVersion().Version, info.Size(), info.ModTime().UnixNano())
}

// auditBase is what a recipe's image was built on; nil where that is not known.
func (l legs) auditBase(r *dockerfile.Recipe) *audit.Base {
	if r.FinalBase == nil {
		if slices.ContainsFunc(r.Ops, func(op dockerfile.Op) bool { return op.Kind == dockerfile.KindFrontend }) {
			return nil
		}
		return &audit.Base{}
	}
	if config := l.bases.Config(r.FinalBase); len(config) > 0 {
		return &audit.Base{Config: config}
	}
	return nil
}

// refuse makes an error of each finding that is decided. With IMAGE_VERIFY off
// they are printed and stop nothing.
func (p *Project) refuse(what string, found []audit.Finding) error {
	var errs []error
	for _, f := range found {
		switch {
		case f.NotChecked:
		case p.Settings.Verify:
			errs = append(errs, fmt.Errorf("%s: %w", what, f))
		default:
			p.console.Warn("%s: %v", what, f)
		}
	}
	return errors.Join(errs...)
}

// checkLeg judges a leg that is to be published and that archmage did not build.
// Of the others nothing but what publish reads is read.
func (p *Project) checkLeg() func(context.Context, publish.Join, publish.Leg, v1.Image) error {
	options := p.auditOptions()
	reading := make(chan struct{}, max(1, p.Jobs)) // layers; of requests there are more at once
	return func(ctx context.Context, j publish.Join, leg publish.Leg, img v1.Image) error {
		raw, err := img.RawConfigFile()
		if err != nil || configLabels(raw)[legLabel] == legName(j.Image, leg.Platform) {
			return err
		}
		reading <- struct{}{}
		defer func() { <-reading }()
		found, err := audit.Image(ctx, audit.Subject{Image: img, Platform: leg.Platform}, options)
		what := "join " + j.Repo.Name() + ":" + leg.Tag
		if err != nil {
			return fmt.Errorf("%s: audit: %w", what, err)
		}
		return p.refuse(what, found)
	}
}
