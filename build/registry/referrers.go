package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// What refers to a manifest is listed by the referrers API or, where a registry
// has none, in an index under a tag made of the digest, which whoever pushes a
// referrer keeps up to date (distribution-spec 1.1, "Listing Referrers" and
// "Unavailable Referrers API").

// referrersTag is the tag of the index that stands in for the API.
func referrersTag(digest string) string { return strings.Replace(digest, ":", "-", 1) }

// Referrers implements [Repository].
func (r *remote) Referrers(ctx context.Context, digest string) ([]v1.Descriptor, error) {
	list, known, err := r.askReferrers(ctx, digest)
	if err != nil || known {
		return list, r.fail("list referrers of", digest, err)
	}
	return taggedReferrers(ctx, r, digest)
}

// AddReferrers implements [Repository]. A registry with the API has seen them
// when their manifests were put. Whether it has is the same for all repositories
// of a host, so it is asked once, and not at all where it said so by itself.
func (r *remote) AddReferrers(ctx context.Context, digest string, list []v1.Descriptor) error {
	known, err := r.client.listing.get(ctx, r.host(), func() (bool, error) {
		_, known, err := r.askReferrers(ctx, digest)
		return known, err
	})
	if err != nil || known {
		return r.fail("list referrers of", digest, err)
	}
	return tagReferrers(ctx, r, digest, list)
}

// subjectHeader is in the answer to a manifest that has a subject, where the
// registry lists it (distribution-spec 1.1, "Pushing Manifests with Subject").
const subjectHeader = "OCI-Subject"

// maxReferrers is more than any manifest has.
const maxReferrers = 10000

// askReferrers uses the API; known is false where the registry has none. What
// is no index, such as the page of a website, is no answer of the API.
func (r *remote) askReferrers(ctx context.Context, digest string) (list []v1.Descriptor, known bool, err error) {
	at := r.url("referrers/" + digest)
	for page := 0; page < 1000 && len(list) <= maxReferrers; page++ {
		body := &sink{size: -1}
		resp, err := r.send(ctx, call{
			method: http.MethodGet, at: at, ok: []int{http.StatusOK}, sink: body,
			header: map[string]string{"Accept": string(types.OCIImageIndex)},
		})
		if withoutAPI(err) || err == nil && mediaTypeOf(resp) != types.OCIImageIndex {
			body.discard()
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		raw, err := body.bytes()
		if err != nil {
			return nil, false, err
		}
		index, err := v1.ParseIndexManifest(bytes.NewReader(raw))
		if err != nil {
			return nil, false, err
		}
		list = append(list, index.Manifests...)
		if at, err = nextPage(resp); err != nil || at == "" {
			return list, true, err
		}
	}
	return nil, false, errors.New("the list of referrers does not end")
}

// withoutAPI reports whether an answer says that the path is not served.
func withoutAPI(err error) bool {
	var final *answer
	var terr *transport.Error
	if !errors.As(err, &final) || !errors.As(err, &terr) {
		return false
	}
	return slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusNotImplemented}, terr.StatusCode)
}

func taggedReferrers(ctx context.Context, r Repository, digest string) ([]v1.Descriptor, error) {
	m, err := r.Manifest(ctx, referrersTag(digest))
	if errors.Is(err, ErrAbsent) {
		return nil, nil
	}
	if err != nil || !m.MediaType.IsIndex() {
		return nil, err
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.Raw))
	if err != nil {
		return nil, fail("list referrers of", reference(r.Name(), digest), "", err)
	}
	return index.Manifests, nil
}

// tagReferrers adds to the index under the tag what it does not list yet.
func tagReferrers(ctx context.Context, r Repository, digest string, list []v1.Descriptor) error {
	have, err := taggedReferrers(ctx, r, digest)
	if err != nil {
		return err
	}
	all := slices.Clone(have)
	for _, d := range list {
		if !lists(all, d) {
			all = append(all, d)
		}
	}
	if len(all) == len(have) {
		return nil
	}
	raw, err := json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: all})
	if err != nil {
		return err
	}
	m, err := NewManifest(raw, types.OCIImageIndex)
	if err != nil {
		return err
	}
	return r.PutManifest(ctx, referrersTag(digest), m)
}
