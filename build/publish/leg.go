package publish

import (
	"context"
	"errors"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/registry"
)

// State says what became of a leg.
type State string

// A leg was not there, was there as it is, or took the place of another.
const (
	Pushed    State = "pushed"
	Published State = "published"
	Replaced  State = "replaced"
)

// Push is where a leg goes, and what may be replaced there.
type Push struct {
	Image  string
	Repo   registry.Repository // opened to write
	Leg    Leg
	Engine string // that builds it, for the receipt
	Fixed  bool   // the version is one that is written once, see [Fixed]
	Force  bool   // replace it all the same

	// Beside is called with the leg's receipt while the leg is sent, if it is, and
	// waited for. Its context ends where sending fails. nil does nothing.
	Beside func(context.Context, Receipt)
}

func (p Push) ref() string { return p.Repo.Name() + ":" + p.Leg.Tag }

// PushLeg publishes img under its leg's tag. One that is there with the same
// digest stays; one that differs is replaced, but for a fixed version, where
// that is refused. When the registry does not say whether there is one, nothing
// is written.
func PushLeg(ctx context.Context, p Push, img v1.Image) (Receipt, error) {
	r, err := p.receipt(img)
	if err != nil {
		return Receipt{}, err
	}
	present, err := p.present(ctx)
	switch {
	case err != nil:
		return Receipt{}, err
	case present == nil:
		r.State = Pushed
	case present.Digest.String() == r.Digest:
		r.State = Published
		return r, nil
	case p.Fixed && !p.Force:
		no := refuse("push "+p.ref(), "there is another one already: %s, this build is %s", present.Digest, r.Digest)
		no.hint = "a fixed version is written once; choose a new VERSION, or " + forceHint
		return Receipt{}, no
	default:
		r.State = Replaced
	}
	return r, p.put(ctx, img, r)
}

// put sends the leg, and meanwhile what goes beside it.
func (p Push) put(ctx context.Context, img v1.Image, r Receipt) error {
	group, groupCtx := errgroup.WithContext(ctx)
	if p.Beside != nil {
		group.Go(func() error {
			p.Beside(groupCtx, r)
			return nil
		})
	}
	group.Go(func() error {
		_, err := p.Repo.PutImage(groupCtx, p.Leg.Tag, img)
		return err
	})
	return group.Wait()
}

// present is what the leg's tag names; nil where there is nothing.
func (p Push) present(ctx context.Context) (*v1.Descriptor, error) {
	d, err := p.Repo.Head(ctx, p.Leg.Tag)
	if errors.Is(err, registry.ErrAbsent) {
		return nil, nil
	}
	return &d, err
}

// Foretell asks what [PushLeg] would find, before there is an image. It returns
// the receipt as far as it is known, which is without digest, and in words what
// depends on that.
func Foretell(ctx context.Context, p Push) (r Receipt, depends string, err error) {
	r = Receipt{Image: p.Image, Name: p.Repo.Name(), Platform: p.Leg.Platform, Tag: p.Leg.Tag, Engine: p.Engine, State: Pushed}
	switch present, err := p.present(ctx); {
	case err != nil:
		return Receipt{}, "", err
	case present == nil:
		return r, "there is none yet", nil
	case p.Fixed && !p.Force:
		return r, fmt.Sprintf("refused unless it is %s, which is there", present.Digest), nil
	default:
		return r, fmt.Sprintf("replaces %s, unless it is the same", present.Digest), nil
	}
}

func (p Push) receipt(img v1.Image) (Receipt, error) {
	h, err := img.Digest()
	if err != nil {
		return Receipt{}, err
	}
	m, err := img.Manifest()
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{
		Version: ReceiptVersion, Image: p.Image, Name: p.Repo.Name(), Platform: p.Leg.Platform, Tag: p.Leg.Tag,
		Digest: h.String(), Size: contentSize(m), Engine: p.Engine,
	}
	mediaType, err := img.MediaType()
	if err != nil {
		return Receipt{}, err
	}
	r.MediaType = string(mediaType)
	c, err := readConfig(img)
	r.Revision = c.Config.Labels[RevisionLabel]
	return r, err
}

// Kept asks, before an engine builds a leg whose result would differ from
// build to build, whether a fixed version is published already from the same
// revision. If so it is to be kept as it is, and its receipt is returned.
// A revision of a changed tree, or none, is equal to no other.
func Kept(ctx context.Context, p Push, revision string) (r Receipt, kept bool, err error) {
	if !p.Fixed || p.Force || revision == "" || strings.HasSuffix(revision, "-dirty") {
		return Receipt{}, false, nil
	}
	m, err := readLeg(ctx, p.Repo, p.Leg)
	var no *refusal
	if errors.Is(err, registry.ErrAbsent) || errors.As(err, &no) {
		return Receipt{}, false, nil // pushing will tell what is wrong
	}
	if err != nil || m.revision() != revision {
		return Receipt{}, false, err
	}
	if r, err = p.receipt(m.img); err != nil {
		return Receipt{}, false, err
	}
	// The tag may name an index with attestations; it is what stays.
	r.Digest, r.MediaType, r.State = m.named.Digest.String(), string(m.named.MediaType), Published
	return r, true, nil
}
