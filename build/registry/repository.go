package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Mode says what a repository is opened for.
type Mode int

// Read asks for permission to pull, Write to pull and push.
const (
	Read Mode = iota
	Write
)

// Repository holds the images of one name. A ref is a tag or a digest
// (sha256:…). All methods are safe for concurrent use; every error names the
// operation and the reference, and errors.Is tells [ErrAbsent] and [ErrDenied]
// from the rest.
type Repository interface {
	// Name is how the repository is written: REGISTRY/path, or a directory.
	Name() string

	// Head describes what ref names. After this process wrote ref, an answer
	// from before that is asked for again, as often as a request is retried.
	Head(ctx context.Context, ref string) (v1.Descriptor, error)

	// Manifest returns the bytes that ref names, checked against the digest
	// when ref is one.
	Manifest(ctx context.Context, ref string) (Manifest, error)

	// Image returns the image with that manifest digest. Its config and layers
	// are read when they are asked for, under ctx, and handed out only after
	// their digest was checked.
	Image(ctx context.Context, digest string) (v1.Image, error)

	// HasBlob returns nil when the config or layer is there.
	HasBlob(ctx context.Context, digest string) error

	// PutImage writes what img holds and is not there yet, then ref, and reads
	// ref back where the registry did not say what it stored. Layers are
	// streamed; those that another repository of the same registry has are
	// mounted.
	PutImage(ctx context.Context, ref string, img v1.Image) (v1.Descriptor, error)

	// PutManifest writes m under ref. What m refers to has to be there.
	PutManifest(ctx context.Context, ref string, m Manifest) error

	// Referrers lists the manifests whose subject is that digest: signatures,
	// attestations, SBOMs. A repository that has none lists none.
	Referrers(ctx context.Context, digest string) ([]v1.Descriptor, error)

	// AddReferrers makes Referrers list what is in list as well. The manifests
	// have to be there.
	AddReferrers(ctx context.Context, digest string, list []v1.Descriptor) error

	// Tags lists the tags, sorted. A repository that is not there may be
	// ErrAbsent or have none.
	Tags(ctx context.Context) ([]string, error)
}

// Manifest is the bytes of an image manifest or an index, as stored.
type Manifest struct {
	Raw       []byte
	MediaType types.MediaType
	Digest    v1.Hash // of Raw
}

// maxListed bounds what one manifest lists, entries or layers, each of which is
// worth a request. No registry takes as many, and no runtime a tenth of it.
const maxListed = 4096

// NewManifest computes the digest of raw. An empty mediaType is read from raw.
// One that lists more than anybody needs is an error.
func NewManifest(raw []byte, mediaType types.MediaType) (Manifest, error) {
	if err := checkListed(raw); err != nil {
		return Manifest{}, err
	}
	if !mediaType.IsImage() && !mediaType.IsIndex() {
		own, err := ownMediaType(raw)
		if err != nil {
			return Manifest{}, err
		}
		if own != "" {
			mediaType = own
		}
	}
	return Manifest{Raw: raw, MediaType: mediaType, Digest: digestOf(raw)}, nil
}

// Descriptor is what an index says of m, without its platform.
func (m Manifest) Descriptor() v1.Descriptor {
	return v1.Descriptor{MediaType: m.MediaType, Size: int64(len(m.Raw)), Digest: m.Digest}
}

// ownMediaType is what a manifest says of itself. Registries on static file
// servers serve a generic type, and OCI made the field optional: then the shape
// tells (image-spec 1.1, manifest.md and image-index.md).
func ownMediaType(raw []byte) (types.MediaType, error) {
	var shape struct {
		MediaType types.MediaType   `json:"mediaType"`
		Config    json.RawMessage   `json:"config"`
		Manifests []json.RawMessage `json:"manifests"`
	}
	if err := json.Unmarshal(raw, &shape); err != nil {
		return "", fmt.Errorf("not a manifest: %w", err)
	}
	switch {
	case shape.MediaType != "":
		return shape.MediaType, nil
	case shape.Manifests != nil:
		return types.OCIImageIndex, nil
	case shape.Config != nil:
		return types.OCIManifestSchema1, nil
	}
	return "", nil
}

// checkListed leaves it to others to say what is no manifest.
func checkListed(raw []byte) error {
	var list struct {
		Manifests []struct{} `json:"manifests"`
		Layers    []struct{} `json:"layers"`
	}
	_ = json.Unmarshal(raw, &list)
	if n := max(len(list.Manifests), len(list.Layers)); n > maxListed {
		return fmt.Errorf("manifest %s lists %d entries, at most %d are read", digestOf(raw), n, maxListed)
	}
	return nil
}

func isDigest(ref string) bool { return strings.Contains(ref, ":") }

// reference joins a repository's name and a ref the way people write it.
func reference(repository, ref string) string {
	if isDigest(ref) {
		return repository + "@" + ref
	}
	return repository + ":" + ref
}
