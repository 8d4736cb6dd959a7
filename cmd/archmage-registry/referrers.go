package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// referrers puts right what go-containerregistry's handler says of referrers
// (distribution spec 1.1, "Listing Referrers"): in the order of their digests,
// each of the type that it states, of one type where a client asks for that, and
// none rather than an error for a repository or subject that is not there.
type referrers struct {
	next  http.Handler
	blobs *blobs
}

// ServeHTTP implements http.Handler.
func (s *referrers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, digest, ok := split(r.URL.Path, "referrers")
	if _, err := v1.NewHash(digest); !ok || err != nil || r.Method != http.MethodGet {
		s.next.ServeHTTP(w, r)
		return
	}
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{}}
	answer := ask(s.next, r)
	if answer.code == http.StatusOK {
		if err := json.Unmarshal(answer.body.Bytes(), &index); err != nil {
			refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
			return
		}
	}
	if err := s.correct(index.Manifests); err != nil {
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
		return
	}
	if want := r.URL.Query().Get("artifactType"); want != "" {
		index.Manifests = slices.DeleteFunc(index.Manifests, func(d v1.Descriptor) bool { return d.ArtifactType != want })
		w.Header().Set("OCI-Filters-Applied", "artifactType")
	}
	text, err := json.Marshal(index)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
		return
	}
	w.Header().Set("Content-Type", string(types.OCIImageIndex))
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text)
}

// correct sets the types that manifests state; the handler below has the type of
// the config for all of them, which counts for those that state none.
func (s *referrers) correct(list []v1.Descriptor) error {
	for i, d := range list {
		raw, err := os.ReadFile(s.blobs.path(d.Digest))
		if err != nil {
			return err
		}
		var stated struct {
			ArtifactType string `json:"artifactType"`
		}
		if json.Unmarshal(raw, &stated) == nil && stated.ArtifactType != "" {
			list[i].ArtifactType = stated.ArtifactType
		}
	}
	slices.SortFunc(list, func(a, b v1.Descriptor) int { return cmp.Compare(a.Digest.Hex, b.Digest.Hex) })
	return nil
}
