package publish

import (
	"context"
	"encoding/json"
	"errors"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/registry"
)

// The labels that shared tags are judged by and that [Inspect] shows
// (image-spec 1.1, annotations.md). Created is an RFC 3339 time.
const (
	VersionLabel = "org.opencontainers.image.version"
	CreatedLabel = "org.opencontainers.image.created"
)

// Image is one image of an index, or one alone, as it describes itself. What it
// does not say is "".
type Image struct {
	Platform    string            `json:"platform"` // of the config, else of the index; os/arch[/variant]
	Digest      string            `json:"digest"`
	MediaType   string            `json:"mediaType"`
	Size        int64             `json:"size"` // bytes of config and layers, compressed
	Version     string            `json:"version,omitempty"`
	Revision    string            `json:"revision,omitempty"`
	Created     string            `json:"created,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"` // of its manifest
	Absent      bool              `json:"absent,omitempty"`      // an index names it, but it is not there
}

// label fills in what labels say.
func (i *Image) label(labels map[string]string) {
	i.Version, i.Revision, i.Created = labels[VersionLabel], labels[RevisionLabel], labels[CreatedLabel]
}

// image is the leg as its index will have it.
func (mb *member) image() Image {
	img := Image{Platform: mb.leg.Platform.String(), Digest: mb.entry.Digest.String(), MediaType: string(mb.entry.MediaType)}
	img.label(mb.labels)
	return img
}

// imagesOf describes the images that m names. One that is not there is told by
// Absent, and no error; neither is a config that is none.
func imagesOf(ctx context.Context, repo registry.Repository, m registry.Manifest) ([]Image, error) {
	list, err := imageEntries(m)
	if err != nil {
		return nil, err
	}
	found := make([]Image, len(list))
	err = together(ctx, len(list), func(i int) (err error) {
		found[i], _, err = describe(ctx, repo, list[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// describe reads what d names: manifest and config, no layers. The image is nil
// where that is no image, or absent.
func describe(ctx context.Context, repo registry.Repository, d v1.Descriptor) (Image, v1.Image, error) {
	is := Image{Digest: d.Digest.String(), MediaType: string(d.MediaType)}
	if d.Platform != nil {
		is.Platform = normal(d.Platform.OS, d.Platform.Architecture, d.Platform.Variant)
	}
	if d.MediaType.IsIndex() {
		return is, nil, nil // an index in an index says nothing of itself
	}
	img, err := repo.Image(ctx, is.Digest)
	if errors.Is(err, registry.ErrAbsent) {
		is.Absent = true
		return is, nil, nil
	}
	if err != nil {
		return is, nil, err
	}
	manifest, err := img.Manifest()
	if err != nil {
		return is, nil, err
	}
	is.Annotations, is.Size = manifest.Annotations, contentSize(manifest)
	raw, err := img.RawConfigFile()
	if errors.Is(err, registry.ErrAbsent) {
		is.Absent = true
		return is, nil, nil
	}
	var c config
	if err != nil || json.Unmarshal(raw, &c) != nil {
		return is, img, err
	}
	if p := normal(c.OS, c.Architecture, c.Variant); p != "" {
		is.Platform = p
	}
	is.label(c.Config.Labels)
	return is, img, nil
}

func contentSize(m *v1.Manifest) int64 {
	size := m.Config.Size
	for _, l := range m.Layers {
		size += l.Size
	}
	return size
}
