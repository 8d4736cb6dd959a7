package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// DryRun makes repositories that are read and not written: each write is told,
// and counts as done. Repositories of one DryRun know of what was written
// through another of the same name, and so does whoever reads it back. A nil
// *DryRun makes none of it: repositories are as they were.
type DryRun struct {
	Instead func(Change) // from any goroutine

	mu        sync.Mutex
	manifests map[string]Manifest // by reference, as people write it
	blobs     map[string]bool     // likewise
}

// Change is one change of a repository.
type Change struct {
	Do     string // put, upload, mount
	Name   string // of the repository
	Ref    string // tag or digest
	Digest string // that a tag names then; "" where it is not known before
	Size   int64  // of a blob, in bytes
	From   string // repository of the same registry that a blob is mounted from
}

// String is the reference, and what else there is to say.
func (w Change) String() string {
	text := reference(w.Name, w.Ref)
	switch {
	case w.From != "":
		return text + " from " + w.From
	case w.Do != "put":
		return fmt.Sprintf("%s (%d bytes)", text, w.Size)
	case isDigest(w.Ref):
		return text
	}
	return text + "@" + w.Digest
}

// Of returns repo as a dry run sees it.
func (d *DryRun) Of(repo Repository) Repository {
	if d == nil {
		return repo
	}
	return &dryRepository{Repository: repo, run: d}
}

// dryRepository reads a repository, and what was written to it in this dry run.
type dryRepository struct {
	Repository
	run *DryRun
}

// written is the manifest that ref was given.
func (r *dryRepository) written(ref string) (Manifest, bool) {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	m, ok := r.run.manifests[reference(r.Name(), ref)]
	return m, ok
}

// Head implements [Repository], as all that follow.
func (r *dryRepository) Head(ctx context.Context, ref string) (v1.Descriptor, error) {
	if m, ok := r.written(ref); ok {
		return m.Descriptor(), nil
	}
	return r.Repository.Head(ctx, ref)
}

// Manifest is what was written, else what is there.
func (r *dryRepository) Manifest(ctx context.Context, ref string) (Manifest, error) {
	if m, ok := r.written(ref); ok {
		return m, nil
	}
	return r.Repository.Manifest(ctx, ref)
}

// HasBlob knows the blobs that were written.
func (r *dryRepository) HasBlob(ctx context.Context, digest string) error {
	r.run.mu.Lock()
	there := r.run.blobs[reference(r.Name(), digest)]
	r.run.mu.Unlock()
	if there {
		return nil
	}
	return r.Repository.HasBlob(ctx, digest)
}

// PutImage asks for every blob, and tells of those that are not there.
func (r *dryRepository) PutImage(ctx context.Context, ref string, img v1.Image) (v1.Descriptor, error) {
	m, err := manifestOf(img)
	if err == nil {
		err = checkRef(ref)
	}
	if err == nil {
		err = r.putBlobs(ctx, img)
	}
	if err == nil {
		err = r.PutManifest(ctx, ref, m)
	}
	return m.Descriptor(), err
}

func (r *dryRepository) putBlobs(ctx context.Context, img v1.Image) error {
	blobs, err := blobsOf(img)
	if err != nil {
		return err
	}
	for _, l := range blobs {
		h, err := l.Digest()
		if err != nil {
			return err
		}
		switch err := r.HasBlob(ctx, h.String()); {
		case err == nil:
			continue
		case !errors.Is(err, ErrAbsent) && !errors.Is(err, ErrDenied):
			return err
		}
		if err := r.tell(l, h); err != nil {
			return err
		}
	}
	return nil
}

// tell tells of one blob that is not there.
func (r *dryRepository) tell(l v1.Layer, h v1.Hash) error {
	size, err := l.Size()
	if err != nil {
		return err
	}
	w := Change{Do: "upload", Name: r.Name(), Ref: h.String(), Size: size}
	if to, ok := r.Repository.(*remote); ok {
		if w.From = to.mountSource(l); w.From != "" {
			w.Do = "mount"
		}
	}
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	if r.run.blobs == nil {
		r.run.blobs = map[string]bool{}
	}
	if key := reference(w.Name, w.Ref); !r.run.blobs[key] {
		r.run.blobs[key] = true
		r.run.Instead(w)
	}
	return nil
}

// PutManifest tells of the manifest. It is there from now on, for this dry run.
func (r *dryRepository) PutManifest(_ context.Context, ref string, m Manifest) error {
	if err := checkPut(ref, m); err != nil {
		return fail("push", reference(r.Name(), ref), "", err)
	}
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	if r.run.manifests == nil {
		r.run.manifests = map[string]Manifest{}
	}
	r.run.manifests[reference(r.Name(), ref)] = m
	r.run.manifests[reference(r.Name(), m.Digest.String())] = m
	r.run.Instead(Change{Do: "put", Name: r.Name(), Ref: ref, Digest: m.Digest.String()})
	return nil
}

// Referrers are those that are there, and those that a tag written here lists.
func (r *dryRepository) Referrers(ctx context.Context, digest string) ([]v1.Descriptor, error) {
	if _, ok := r.written(referrersTag(digest)); ok {
		return taggedReferrers(ctx, r, digest)
	}
	return r.Repository.Referrers(ctx, digest)
}

// AddReferrers tells of the tag that stands in for the API where there is none.
func (r *dryRepository) AddReferrers(ctx context.Context, digest string, list []v1.Descriptor) error {
	if to, ok := r.Repository.(*remote); ok {
		if _, known, err := to.askReferrers(ctx, digest); err != nil || known {
			return to.fail("list referrers of", digest, err)
		}
	}
	return tagReferrers(ctx, r, digest, list)
}
