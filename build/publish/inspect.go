package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/registry"
)

// ReportVersion is the version of a report's JSON form; fields are only ever
// added to it.
const ReportVersion = 1

// Report is what a reference names, of any platforms.
type Report struct {
	Version      int               `json:"version"` // [ReportVersion]
	Name         string            `json:"name"`    // of the repository
	Ref          string            `json:"ref"`     // tag or digest, as asked for
	Digest       string            `json:"digest"`
	MediaType    string            `json:"mediaType"`
	Revision     string            `json:"revision,omitempty"` // that all images carry
	Created      string            `json:"created,omitempty"`  // likewise
	Annotations  map[string]string `json:"annotations,omitempty"`
	Images       []Image           `json:"images"` // in the order of the index; one, where it is none
	Attestations []Attestation     `json:"attestations,omitempty"`
}

// Attestation is an entry of an index that is no image.
type Attestation struct {
	Digest    string `json:"digest"`
	MediaType string `json:"mediaType"`
	Of        string `json:"of,omitempty"` // digest of what it is about, where it says so
}

// Inspect reads what ref names, and the manifest and config of each image in
// it. What is not there is registry.ErrAbsent for ref itself, and told by
// Image.Absent for the images.
func Inspect(ctx context.Context, repo registry.Repository, ref string) (*Report, error) {
	m, err := repo.Manifest(ctx, ref)
	if err != nil {
		return nil, err
	}
	r := &Report{Version: ReportVersion, Name: repo.Name(), Ref: ref, Digest: m.Digest.String(), MediaType: string(m.MediaType)}
	if !m.MediaType.IsIndex() && !m.MediaType.IsImage() {
		return nil, fmt.Errorf("inspect %s: %s is neither an index nor an image", r, m.MediaType)
	}
	if r.Images, err = imagesOf(ctx, repo, m); err != nil {
		return nil, known("inspect "+r.String(), err)
	}
	if m.MediaType.IsIndex() {
		err = r.readIndex(m)
	} else {
		r.Annotations = r.Images[0].Annotations
	}
	if first, ok := r.agreed(func(i Image) string { return i.Revision }); ok {
		r.Revision = first
	}
	if first, ok := r.agreed(func(i Image) string { return i.Created }); ok {
		r.Created = first
	}
	return r, err
}

// known keeps an image's absence from being taken for that of the reference.
func known(what string, err error) error {
	if errors.Is(err, registry.ErrAbsent) {
		return refuse(what, "%v", err)
	}
	return err
}

// readIndex adds what the index itself says.
func (r *Report) readIndex(m registry.Manifest) error {
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return err
	}
	r.Annotations = index.Annotations
	image := map[string]bool{}
	for _, img := range r.Images {
		image[img.Digest] = true
	}
	for _, d := range index.Manifests {
		if !image[d.Digest.String()] {
			r.Attestations = append(r.Attestations, Attestation{d.Digest.String(), string(d.MediaType), d.Annotations[referenceDigest]})
		}
	}
	return nil
}

// agreed is what all images say, where they all say the same.
func (r *Report) agreed(say func(Image) string) (string, bool) {
	first := ""
	for i, img := range r.Images {
		if i == 0 {
			first = say(img)
		}
		if say(img) != first { // what is absent says nothing
			return "", false
		}
	}
	return first, first != ""
}

// String is the reference by digest: name:tag@digest, or name@digest.
func (r *Report) String() string {
	if strings.Contains(r.Ref, ":") {
		return r.Name + "@" + r.Digest
	}
	return r.Name + ":" + r.Ref + "@" + r.Digest
}

// Whole is an error when an image of the index is not there.
func (r *Report) Whole() error {
	var gone []string
	for _, img := range r.Images {
		if img.Absent {
			gone = append(gone, orNone([]string{img.Platform})+" "+img.Digest)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return refuse("inspect "+r.String(), "it is incomplete: not there: %s", strings.Join(gone, ", "))
}

// OneRevision is the revision that all images carry; an error says why there is
// none.
func (r *Report) OneRevision() (string, error) {
	if err := r.Whole(); err != nil {
		return "", err
	}
	if r.Revision != "" {
		return r.Revision, nil
	}
	var said []string
	for _, img := range r.Images {
		said = append(said, fmt.Sprintf("%s %s", orNone([]string{img.Platform}), orNone([]string{img.Revision})))
	}
	return "", refuse("inspect "+r.String(), "no one revision: %s", orNone(said))
}
