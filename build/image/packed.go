package image

import (
	"context"
	"fmt"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// packed is a new layer that may not be compressed yet: its digest is known
// from an earlier run, and its bytes are made when somebody asks for them. All
// legs of a run that consist of the same files share one.
type packed struct {
	contents
	blobs *Blobs
	id    identity

	mu    sync.Mutex
	known *description // nil until it is settled
	blob  *blob        // nil until it is compressed
	stale error        // known was wrong
}

// StaleError says that what was remembered of a layer is not so, because it was
// damaged or a file has changed since. Nothing was published by it, what is
// remembered has been put right, and building the image again gives the right
// one.
type StaleError struct{ have, want description }

func (e *StaleError) Error() string {
	return fmt.Sprintf("layer %s: its files make %s now", e.want.digest, e.have.digest)
}

// Hint says what to do where nobody builds it again.
func (e *StaleError) Hint() string { return "run the same command again" }

// layer is a new layer whose digest is known: remembered, or of what was
// compressed for it.
func (b *Blobs) layer(ctx context.Context, c contents) (v1.Layer, error) {
	c.made = b.Made
	id, err := c.identify()
	if err != nil {
		return nil, err
	}
	p := b.share(&packed{contents: c, blobs: b, id: id})
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.settle(ctx); err != nil {
		return nil, err
	}
	if id.files == "" {
		return p.blob, nil // its files end with the build
	}
	return &lazy{*p.known, p, func() (*blob, error) { return p.bytes(ctx) }}, nil
}

// share is the layer of this run that consists of the same as p.
func (b *Blobs) share(p *packed) *packed {
	if p.id.files == "" {
		return p
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	key := fmt.Sprint(p.format, p.id.files)
	if have := b.shared[key]; have != nil {
		return have
	}
	b.shared[key] = p
	return p
}

func (b *Blobs) unshare(p *packed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.shared, fmt.Sprint(p.format, p.id.files))
}

// settle finds out the digest. p is locked.
func (p *packed) settle(ctx context.Context) (err error) {
	if p.known != nil || p.stale != nil {
		return p.stale
	}
	diffID, ok := p.blobs.diffID(p.id)
	if !ok && p.blobs.seen(p.id) {
		// One with the same headers was compressed before. To read this one is
		// cheaper than to compress it, where it turns out to be the same.
		if diffID, err = p.hash(ctx); err != nil {
			return err
		}
		p.rememberFiles(diffID)
	}
	if d, ok := p.blobs.recall(p.format, diffID); ok {
		p.known = &d
		return nil
	}
	return p.compress(ctx)
}

// compress makes the bytes, once, and compares them with what was remembered. p
// is locked. What fails for one leg, whose time is up, is tried again for the
// next.
func (p *packed) compress(ctx context.Context) error {
	if p.blob != nil || p.stale != nil {
		return p.stale
	}
	made, err := p.blobs.write(ctx, p.format, p.write)
	if err != nil {
		return err
	}
	if p.known != nil && *p.known != made.description {
		p.stale = &StaleError{have: made.description, want: *p.known}
		p.blobs.unshare(p)
		p.blobs.forget(p.id)
	}
	p.remember(made.description)
	if p.stale == nil {
		p.known, p.blob = &made.description, made
	}
	return p.stale
}

// bytes is the compressed layer.
func (p *packed) bytes(ctx context.Context) (*blob, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.compress(ctx)
	return p.blob, err
}
