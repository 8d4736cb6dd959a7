package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/cache"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/rootfs"
)

// Subject is one image, and what is claimed of it.
type Subject struct {
	Image    v1.Image
	Platform platform.Platform // zero: what its config says

	// Base, where set, is what the image was built on, known to be for its
	// platform: then of the base's layers only what they list is read, and from
	// Options.Indexes where it is remembered. Where nil, the labels say which
	// base it is.
	Base *Base
}

// Base is a base image.
type Base struct {
	Config []byte // as stored; nil is scratch
}

// Options are common to all images of a run. The zero value is usable.
type Options struct {
	Jobs     int    // images at once; 0 is 1
	Dir      string // where files are kept while they are looked at; "" is the system's
	Indexes  rootfs.Indexes
	Facts    cache.Store // what the layers of bases hold, for [ImageContents]
	Revision string      // where set, every image has to carry it in its revision label

	// Base reads the config of the base image that labels name. Where it is nil
	// or fails, an image's own programs tell what its base is for.
	Base func(ctx context.Context, name, digest string, p platform.Platform) ([]byte, error)
}

// Image reports how an image differs from one that runs on its platform: what
// its config says, and every program in it that can be told to be its own. The
// error is one of reading; what is certainly damaged or gone is a finding.
func Image(ctx context.Context, s Subject, o Options) ([]Finding, error) {
	l, err := examine(ctx, s, o)
	defer l.close()
	return l.list(), err
}

// config is what is asked of an image's config.
type config struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Variant      string `json:"variant"`
	Config       struct {
		Entrypoint []string
		Cmd        []string
		Env        []string
		WorkingDir string
		User       string
		Labels     map[string]string
	} `json:"config"`
	RootFS struct {
		DiffIDs []v1.Hash `json:"diff_ids"`
	} `json:"rootfs"`
}

// look is one image while it is examined.
type look struct {
	notes
	want     platform.Platform
	config   config
	parsed   bool // there is a config
	layers   []*layer
	tree     rootfs.Tree
	partial  bool // some layer could not be read: what is missing may be in it
	split    bool // which layers are the base's is known
	ofBase   int  // how many are
	programs int  // ELF programs that were looked at
	judged   map[*rootfs.Node]bool
}

// close gives up the files that were kept.
func (l *look) close() {
	for _, layer := range l.layers {
		layer.close()
	}
}

// examine does all that [Image] does. What it returns is never nil, and has to
// be closed.
func examine(ctx context.Context, s Subject, o Options) (*look, error) {
	l := &look{want: s.Platform, judged: map[*rootfs.Node]bool{}}
	manifest, err := s.Image.Manifest()
	if err != nil {
		return l, l.damaged(err)
	}
	if !manifest.Config.MediaType.IsConfig() {
		l.unsure("", "no container image: its config is %s", manifest.Config.MediaType)
		return l, nil
	}
	raw, err := s.Image.RawConfigFile()
	if errors.Is(err, registry.ErrAbsent) {
		l.wrong(fixLost, "", "its config %s is gone", manifest.Config.Digest)
		return l, nil
	}
	if err != nil {
		return l, l.damaged(err)
	}
	if err := json.Unmarshal(raw, &l.config); err != nil {
		l.wrong(fixLost, "", "its config is no JSON: %v", err)
		return l, nil
	}
	l.parsed = true
	if !l.platform() {
		return l, nil
	}
	if err := l.base(ctx, s, o); err != nil {
		return l, err
	}
	if err := l.fold(ctx, s, manifest, o); err != nil {
		return l, err
	}
	l.userland()
	l.entrypoint()
	l.added()
	return l, l.unread()
}

// unread is why files of a listed layer could not be read, though they were
// there when it was made.
func (l *look) unread() error {
	var errs []error
	for _, layer := range l.layers {
		if layer.listed != nil {
			errs = append(errs, layer.err)
		}
	}
	return errors.Join(errs...)
}

// damaged makes a finding of an error, unless it leaves open what is wrong.
func (l *look) damaged(err error) error {
	var found *damage
	var asked *registry.Error
	switch {
	case errors.As(err, &found), errors.Is(err, registry.ErrAbsent), errors.Is(err, registry.ErrDamaged):
		l.wrong(fixLost, "", "%v", err)
		return nil
	case errors.As(err, &asked), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	l.wrong(fixLost, "", "%v", err)
	return nil
}

// platform compares what is claimed with the config, and reports whether there
// is any sense in looking further.
func (l *look) platform() bool {
	is := named(l.config.OS, l.config.Architecture, l.config.Variant)
	switch {
	case l.config.OS == "" || l.config.Architecture == "":
		l.wrong(fixPlatform, "", "its config names no platform")
		if l.want == (platform.Platform{}) {
			return false
		}
	case l.want == (platform.Platform{}):
		l.want = is
	case l.want != is:
		l.wrong(fixPlatform, "", "its config is for %s", is)
	}
	switch {
	case l.want.OS != "linux":
		l.unsure("", "what an image for %s holds is not known here", l.want.OS)
		return false
	case l.want.ELF() == platform.ELF{}:
		l.unsure("", "the architecture %s is not known here", l.want.Arch)
		return false
	}
	return true
}

// named is a platform as an index or a config spells it, normalised where it is
// known here.
func named(os, arch, variant string) platform.Platform {
	text := strings.TrimSuffix(os+"/"+arch+"/"+variant, "/")
	if p, err := platform.Parse(text); err == nil {
		return p
	}
	return platform.Platform{OS: os, Arch: arch, Variant: variant}
}

// fold lays the layers over each other. One that is damaged is a finding, and
// leaves open what is in it.
func (l *look) fold(ctx context.Context, s Subject, manifest *v1.Manifest, o Options) error {
	if err := l.open(ctx, s, manifest, o); err != nil {
		return l.damaged(err)
	}
	count := 0
	for _, layer := range l.layers {
		entries, err := layer.entries()
		if err == nil {
			count += len(entries)
			layer.remember(entries)
			if count > maxEntries {
				return l.damaged(&damage{fmt.Sprintf("its layers list more than %d files", maxEntries)})
			}
			if l.tree, err = l.tree.Apply(entries); err != nil {
				err = layer.failed(err)
			}
		}
		var found *damage
		if err != nil && !errors.As(err, &found) {
			return err
		}
		if err != nil {
			l.partial = true
			l.wrong(fixLost, "", "%v", err)
		}
	}
	return nil
}

// open lists the layers; none is read yet. Layers that may not be distributed
// are where their manifest says, and stay there.
func (l *look) open(ctx context.Context, s Subject, manifest *v1.Manifest, o Options) error {
	stored, err := s.Image.Layers()
	if err != nil {
		return err
	}
	ids := l.config.RootFS.DiffIDs
	if len(ids) != len(stored) || len(manifest.Layers) != len(stored) {
		l.wrong(fixLost, "", "%d layers, but its config lists %d", len(stored), len(ids))
		ids = nil
	}
	room := &room{dir: o.Dir, left: mostKept}
	for i, from := range stored {
		d := manifest.Layers[i]
		if !d.MediaType.IsDistributable() {
			l.partial = true
			l.unsure("", "layer %d (%s) is not stored with the image", i+1, d.Digest)
			continue
		}
		one := &layer{
			name: fmt.Sprintf("layer %d (%s)", i+1, d.Digest), digest: d.Digest.String(), base: i < l.ofBase,
			room: room, open: func() (io.ReadCloser, error) { return unpack(ctx, from) },
		}
		if one.base && s.Base != nil {
			one.indexes = o.Indexes
		}
		one.list(from)
		if ids != nil {
			one.diffID = &ids[i]
		}
		l.layers = append(l.layers, one)
	}
	return nil
}
