package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Grammar of the distribution spec 1.1, "Pulling manifests". A repository whose
// name fits it is a safe path, and never collides with _refs.
var (
	repoGrammar = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	refGrammar  = regexp.MustCompile(`^(\w[\w.-]{0,127}|sha256:[0-9a-f]{64})$`)
)

// open returns the registry that dir holds: go-containerregistry's handler, and
// around it a handler for each subject in which it keeps nothing, or not what
// the spec asks for. Each passes on what is not its subject.
func open(dir string, log *writeLog) (http.Handler, error) {
	b, err := openBlobs(filepath.Join(dir, "blobs"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	s := &store{
		inner: registry.New(registry.WithBlobHandler(b), registry.Logger(log.discard()), registry.WithReferrersSupport(true)),
		blobs: b, refs: filepath.Join(dir, "manifests"),
	}
	if err := s.replay(); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	tags := &tags{next: s}
	referrers := &referrers{next: tags, blobs: b}
	uploads := &uploads{next: &downloads{next: referrers, blobs: b}, blobs: b}
	return log.around(legal(uploads)), nil
}

// legal refuses names that are not, before anything makes a path of them.
func legal(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ok := r.URL.Path == "/v2" || r.URL.Path == "/v2/" || r.URL.Path == "/v2/_catalog"
		for _, kind := range []string{"manifests", "blobs", "blobs/uploads", "tags", "referrers"} {
			_, _, fits := split(r.URL.Path, kind)
			ok = ok || fits
		}
		if !ok {
			refuse(w, http.StatusBadRequest, "NAME_INVALID", "no such endpoint, or not a legal repository")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// split cuts /v2/<repository>/<kind>/<last>, where kind may be of several
// elements. It fails for another kind and for a name that is not legal.
func split(path, kind string) (repo, last string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/v2/")
	i := strings.LastIndex(rest, "/"+kind+"/")
	if !ok || i < 0 {
		return "", "", false
	}
	repo, last = rest[:i], rest[i+len(kind)+2:]
	return repo, last, repoGrammar.MatchString(repo) && !strings.Contains(last, "/")
}

// refuse answers as the spec's section "Error codes" has it.
func refuse(w http.ResponseWriter, status int, code, message string) {
	type problem struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string][]problem{"errors": {{code, message}}})
}
