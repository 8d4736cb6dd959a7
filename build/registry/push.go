package registry

import (
	"context"
	"fmt"
	"net/http"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"golang.org/x/sync/errgroup"
)

// askedAtOnce is how many blobs of one image are asked for at once.
const askedAtOnce = 8

// PutImage implements [Repository].
func (r *remote) PutImage(ctx context.Context, ref string, img v1.Image) (v1.Descriptor, error) {
	d, err := r.putImage(ctx, ref, img)
	return d, r.fail("push", ref, err)
}

func (r *remote) putImage(ctx context.Context, ref string, img v1.Image) (v1.Descriptor, error) {
	if err := checkRef(ref); err != nil {
		return v1.Descriptor{}, err
	}
	if err := r.putBlobs(ctx, img); err != nil {
		return v1.Descriptor{}, err
	}
	m, err := manifestOf(img)
	if err != nil {
		return v1.Descriptor{}, err
	}
	confirmed, err := r.putManifest(ctx, ref, m)
	if err != nil || confirmed {
		return m.Descriptor(), err
	}
	got, err := r.Head(ctx, ref)
	if err == nil && got.Digest != m.Digest {
		err = fmt.Errorf("written as %s, but names %s when read back", m.Digest, got.Digest)
	}
	return m.Descriptor(), err
}

// putBlobs makes sure that all that img consists of is there.
func (r *remote) putBlobs(ctx context.Context, img v1.Image) error {
	blobs, err := blobsOf(img)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askedAtOnce)
	for _, b := range blobs {
		group.Go(func() error { return r.putBlob(ctx, b) })
	}
	return group.Wait()
}

// blobsOf is the layers of img and its config, each once. Layers that may not
// be distributed stay where their manifest says they are.
func blobsOf(img v1.Image) ([]v1.Layer, error) {
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	config, err := partial.ConfigLayer(img)
	if err != nil {
		return nil, err
	}
	seen := map[v1.Hash]bool{}
	var blobs []v1.Layer
	for _, l := range append(layers, config) {
		mediaType, err := l.MediaType()
		if err != nil {
			return nil, err
		}
		h, err := l.Digest()
		if err != nil {
			return nil, err
		}
		if !seen[h] && mediaType.IsDistributable() {
			seen[h] = true
			blobs = append(blobs, l)
		}
	}
	return blobs, nil
}

func manifestOf(img v1.Image) (Manifest, error) {
	raw, err := img.RawManifest()
	if err != nil {
		return Manifest{}, err
	}
	mediaType, err := img.MediaType()
	if err != nil {
		return Manifest{}, err
	}
	return NewManifest(raw, mediaType)
}

// PutManifest implements [Repository].
func (r *remote) PutManifest(ctx context.Context, ref string, m Manifest) error {
	_, err := r.putManifest(ctx, ref, m)
	return r.fail("push", ref, err)
}

// putManifest writes m; confirmed is whether the registry has said what it holds
// now.
func (r *remote) putManifest(ctx context.Context, ref string, m Manifest) (confirmed bool, err error) {
	if err := checkPut(ref, m); err != nil {
		return false, err
	}
	resp, err := r.send(ctx, call{
		method: http.MethodPut, path: "manifests/" + ref, body: m.Raw,
		header: map[string]string{"Content-Type": string(m.MediaType)},
		ok:     []int{http.StatusCreated, http.StatusOK, http.StatusAccepted},
	})
	if err != nil {
		return false, err
	}
	got := resp.Header.Get("Docker-Content-Digest")
	if got != "" && got != m.Digest.String() {
		return false, fmt.Errorf("digest mismatch: sent %s, the registry stored %s", m.Digest, got)
	}
	if resp.Header.Get(subjectHeader) != "" {
		r.client.listing.know(r.host(), true)
	}
	r.wrote.Store(ref, m.Digest)
	r.wrote.Store(m.Digest.String(), m.Digest)
	return got != "", nil
}

// checkRef refuses what is neither a tag nor a digest, before anything is sent.
func checkRef(ref string) error {
	if isDigest(ref) {
		_, err := v1.NewHash(ref)
		return err
	}
	return CheckTag(ref)
}

// checkPut is what both kinds of repository ask of a manifest and its ref.
func checkPut(ref string, m Manifest) error {
	if digestOf(m.Raw) != m.Digest {
		return fmt.Errorf("digest mismatch: the manifest is not %s", m.Digest)
	}
	if !isDigest(ref) {
		return CheckTag(ref)
	}
	if ref != m.Digest.String() {
		return fmt.Errorf("digest mismatch: the manifest is %s", m.Digest)
	}
	return nil
}
