package audit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// Labels that say where an image comes from (image-spec 1.1, annotations.md).
const (
	labelBaseName   = "org.opencontainers.image.base.name"
	labelBaseDigest = "org.opencontainers.image.base.digest"
	labelRevision   = "org.opencontainers.image.revision"
)

// base finds out which layers are the base's, and compares its platform. A base
// that the caller knows has been compared already.
func (l *look) base(ctx context.Context, s Subject, o Options) error {
	if s.Base != nil {
		l.splitAt(s.Base.Config)
		return nil
	}
	name, digest := l.config.Config.Labels[labelBaseName], l.config.Config.Labels[labelBaseDigest]
	if name == "" || digest == "" || o.Base == nil {
		return nil
	}
	raw, err := o.Base(ctx, name, digest, l.want)
	var no *registry.NoPlatformError
	switch {
	case errors.As(err, &no):
		l.wrong(fixBase, "", "its base %s has no image for it (it has %s)", name, strings.Join(no.Have, ", "))
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		l.unsure("", "its base cannot be read, so only what is in the image was compared (%v)", err)
		return nil
	}
	l.compareBase(name, raw)
	l.splitAt(raw)
	return nil
}

func (l *look) compareBase(name string, raw []byte) {
	var c config
	_ = json.Unmarshal(raw, &c) // one that says nothing is like none
	if is := named(c.OS, c.Architecture, c.Variant); c.OS != "" && c.Architecture != "" && !serves(is, l.want) {
		l.wrong(fixBase, "", "its base %s is for %s", name, is)
	}
}

// splitAt takes the layers that a base's config lists for the base's, if the
// image begins with them. Scratch has no config, and no layers.
func (l *look) splitAt(raw []byte) {
	var c config
	if len(raw) > 0 && json.Unmarshal(raw, &c) != nil {
		return
	}
	ids, base := l.config.RootFS.DiffIDs, c.RootFS.DiffIDs
	if len(base) <= len(ids) && slices.Equal(ids[:len(base)], base) {
		l.split, l.ofBase = true, len(base)
	}
}

// serves reports whether what is made for have runs on want: the same
// architecture, in the same or a lower variant.
func serves(have, want platform.Platform) bool {
	_, value := have.GoVar()
	return have.OS == want.OS && have.Arch == want.Arch && (value == "" || slices.Contains(want.Runs(), value))
}
