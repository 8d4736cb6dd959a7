package registry

import (
	"context"
	"errors"
	"net/http"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// What a base consists of is named by digests, so it is remembered between runs
// and checked against them when it is read. The one question left is what a tag
// names today.

// namedBase reads what a base's reference names. A tag whose manifest was read in
// an earlier run is asked for its digest alone, which registries that count
// downloads do not count.
func (r *remote) namedBase(ctx context.Context, id string) (Manifest, error) {
	if isDigest(id) {
		return r.baseManifest(ctx, id)
	}
	hint := "tag " + reference(r.name, id)
	if _, seen := r.client.facts.Get(hint); seen {
		digest, err := r.headDigest(ctx, id)
		if err != nil {
			return Manifest{}, err
		}
		if m, ok := r.recallManifest(digest); ok {
			return m, nil
		}
	}
	m, err := r.manifest(ctx, id)
	if err == nil {
		r.rememberManifest(m)
		r.client.facts.Put(hint, nil)
	}
	return m, err
}

// headDigest is the digest that a HEAD gives; "" where GET has to tell, which is
// also who explains a refusal.
func (r *remote) headDigest(ctx context.Context, id string) (string, error) {
	resp, err := r.send(ctx, call{
		method: http.MethodHead, path: "manifests/" + id, ok: []int{http.StatusOK},
		header: map[string]string{"Accept": accepted},
	})
	var final *answer
	if errors.As(err, &final) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	h, ok := contentDigest(resp)
	if !ok {
		return "", nil
	}
	return h.String(), nil
}

// baseManifest reads a manifest of a base by its digest.
func (r *remote) baseManifest(ctx context.Context, digest string) (Manifest, error) {
	if m, ok := r.recallManifest(digest); ok {
		return m, nil
	}
	m, err := r.manifest(ctx, digest)
	if err == nil {
		r.rememberManifest(m)
	}
	return m, err
}

func (r *remote) manifestKey(digest string) string { return "manifest " + r.name + "@" + digest }

func (r *remote) recallManifest(digest string) (Manifest, bool) {
	value, ok := r.client.facts.Get(r.manifestKey(digest))
	mediaType, raw, found := strings.Cut(string(value), "\n")
	if !ok || !found {
		return Manifest{}, false
	}
	m, err := NewManifest([]byte(raw), types.MediaType(mediaType))
	return m, err == nil && m.Digest.String() == digest
}

func (r *remote) rememberManifest(m Manifest) {
	if len(m.Raw) <= maxFact {
		r.client.facts.Put(r.manifestKey(m.Digest.String()), append([]byte(m.MediaType+"\n"), m.Raw...))
	}
}

// maxFact is more than manifests and configs of bases have in practice. What is
// larger is read again each time.
const maxFact = 1 << 20

// baseConfig is the config that a base's manifest names.
func (r *remote) baseConfig(ctx context.Context, d v1.Descriptor, read func() ([]byte, error)) ([]byte, error) {
	key := "config " + r.name + "@" + d.Digest.String()
	if raw, ok := r.client.facts.Get(key); ok && digestOf(raw) == d.Digest {
		return raw, ctx.Err()
	}
	raw, err := read()
	if err == nil && len(raw) <= maxFact {
		r.client.facts.Put(key, raw)
	}
	return raw, err
}
