package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Artifact is a file that is about an image: a referrer (image-spec 1.1,
// manifest.md, "Guidelines for Artifact Usage").
type Artifact struct {
	Subject     v1.Descriptor // what it is about
	Type        string        // its media type
	File        string        // what the file is called by who pulls it
	Data        []byte
	Annotations map[string]string
}

// emptyConfig is what a manifest has for a config that has no use for one.
const (
	emptyConfig = "{}"
	emptyType   = "application/vnd.oci.empty.v1+json"
	titleName   = "org.opencontainers.image.title"
)

// Send brings to a registry what a consists of, but for its manifest, so that
// Attach finds it there: its subject may be on its way at the same time. What is
// no registry has nothing to gain by that.
func (a Artifact) Send(ctx context.Context, r Repository) error {
	to, ok := r.(*remote)
	if !ok {
		return nil
	}
	img, err := a.image()
	if err != nil {
		return err
	}
	h, err := img.Digest()
	if err != nil {
		return err
	}
	return to.fail("push", h.String(), to.putBlobs(ctx, img))
}

// Attach writes a to the repository that holds its subject, and makes Referrers
// list it.
func (a Artifact) Attach(ctx context.Context, r Repository) error {
	img, err := a.image()
	if err != nil {
		return err
	}
	h, err := img.Digest()
	if err != nil {
		return err
	}
	d, err := r.PutImage(ctx, h.String(), img)
	if err != nil {
		return err
	}
	d.ArtifactType, d.Annotations = a.Type, a.Annotations
	return r.AddReferrers(ctx, a.Subject.Digest.String(), []v1.Descriptor{d})
}

// image is the manifest with what it refers to.
func (a Artifact) image() (v1.Image, error) {
	// Of the subject no more than what is asked of it.
	subject := v1.Descriptor{MediaType: a.Subject.MediaType, Size: a.Subject.Size, Digest: a.Subject.Digest}
	file := v1.Descriptor{
		MediaType: types.MediaType(a.Type), Size: int64(len(a.Data)), Digest: digestOf(a.Data),
		Annotations: map[string]string{titleName: a.File},
	}
	config := v1.Descriptor{MediaType: emptyType, Size: int64(len(emptyConfig)), Digest: digestOf([]byte(emptyConfig))}
	raw, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: a.Type,
		Config: config, Layers: []v1.Descriptor{file}, Subject: &subject, Annotations: a.Annotations,
	})
	if err != nil {
		return nil, err
	}
	m, err := NewManifest(raw, types.OCIManifestSchema1)
	if err != nil {
		return nil, err
	}
	return newImage(m, func(d v1.Descriptor) (io.ReadCloser, error) {
		if d.Digest == config.Digest {
			return io.NopCloser(bytes.NewReader([]byte(emptyConfig))), nil
		}
		return io.NopCloser(bytes.NewReader(a.Data)), nil
	}, nil)
}
