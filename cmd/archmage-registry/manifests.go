package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// store puts a memory of manifests on disk around go-containerregistry's
// handler, which forgets them: what it accepts is written down before the
// client hears of it, and told to it again at the next start.
//
// Under dir, blobs/ holds the bytes of manifests too, and
// manifests/<repository>/_refs/<tag or digest> the record of each.
type store struct {
	inner http.Handler
	blobs *blobs
	refs  string
	log   *writeLog
	mu    sync.Mutex // writes are taken one by one: memory and disk agree
}

// record is what a ref names.
type record struct {
	MediaType string  `json:"mediaType"`
	Digest    v1.Hash `json:"digest"`
}

const maxManifest = 16 << 20

// Grammar of the distribution spec 1.1, "Pulling manifests". A repository whose
// name fits it is a safe path, and never collides with _refs.
var (
	repoGrammar = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	refGrammar  = regexp.MustCompile(`^(\w[\w.-]{0,127}|sha256:[0-9a-f]{64})$`)
)

// open returns the registry that dir holds.
func open(dir string, log *writeLog) (http.Handler, error) {
	b, err := openBlobs(filepath.Join(dir, "blobs"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	s := &store{
		inner: registry.New(registry.WithBlobHandler(b), registry.Logger(log.discard()), registry.WithReferrersSupport(true)),
		blobs: b, refs: filepath.Join(dir, "manifests"), log: log,
	}
	if err := s.replay(); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := &statusWriter{ResponseWriter: w, code: http.StatusOK}
	repo, ref, ok := manifestPath(r.URL.Path)
	switch {
	case ok && r.Method == http.MethodPut:
		s.put(seen, r, repo, ref)
	case ok && r.Method == http.MethodDelete:
		s.delete(seen, r, repo, ref)
	default:
		s.inner.ServeHTTP(seen, r)
	}
	s.log.request(r, seen.code)
}

// manifestPath splits /v2/<repository>/manifests/<ref>.
func manifestPath(p string) (repo, ref string, ok bool) {
	dir, ref := path.Split(p)
	repo, ok = strings.CutSuffix(strings.TrimPrefix(dir, "/v2/"), "/manifests/")
	return repo, ref, ok && strings.HasPrefix(p, "/v2/")
}

func (s *store) put(w http.ResponseWriter, r *http.Request, repo, ref string) {
	if !repoGrammar.MatchString(repo) || !refGrammar.MatchString(ref) {
		refuse(w, http.StatusBadRequest, "NAME_INVALID", "not a legal repository or tag")
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxManifest))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "SIZE_INVALID", err.Error())
		return
	}
	digest, _, _ := v1.SHA256(bytes.NewReader(raw)) // reading memory does not fail
	if strings.Contains(ref, ":") && ref != digest.String() {
		refuse(w, http.StatusBadRequest, "DIGEST_INVALID", "the manifest is "+digest.String())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.tell(r, raw)
	if answer.code == http.StatusCreated {
		if err := s.keep(r.Context(), place{repo, ref}, record{r.Header.Get("Content-Type"), digest}, raw); err != nil {
			refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
			return
		}
	}
	answer.release(w)
}

// tell passes a manifest on, and holds the answer back.
func (s *store) tell(r *http.Request, raw []byte) *held {
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(raw))
	answer := &held{header: http.Header{}, code: http.StatusOK}
	s.inner.ServeHTTP(answer, again)
	return answer
}

// held is an answer that nobody has seen yet.
type held struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (h *held) Header() http.Header         { return h.header }
func (h *held) WriteHeader(code int)        { h.code = code }
func (h *held) Write(p []byte) (int, error) { return h.body.Write(p) }

func (h *held) release(w http.ResponseWriter) {
	maps.Copy(w.Header(), h.header)
	w.WriteHeader(h.code)
	_, _ = w.Write(h.body.Bytes()) // a client that left needs no answer
}

// keep writes the bytes, then the digest's record, then the tag's.
func (s *store) keep(ctx context.Context, at place, rec record, raw []byte) error {
	if err := s.blobs.Put(ctx, at.repo, rec.Digest, io.NopCloser(bytes.NewReader(raw))); err != nil {
		return err
	}
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	for _, name := range []string{rec.Digest.String(), at.ref} {
		file := s.record(at.repo, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		err := replace(file, s.blobs.dir, func(w io.Writer) error { _, err := w.Write(text); return err })
		if err != nil {
			return err
		}
	}
	return nil
}

// record is the file of a ref; a digest's name has no colon, which some file
// systems do not take.
func (s *store) record(repo, ref string) string {
	return filepath.Join(s.refs, filepath.FromSlash(repo), "_refs", strings.Replace(ref, ":", "@", 1))
}

func (s *store) delete(w http.ResponseWriter, r *http.Request, repo, ref string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if repoGrammar.MatchString(repo) && refGrammar.MatchString(ref) {
		if err := os.Remove(s.record(repo, ref)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
			return
		}
	}
	s.inner.ServeHTTP(w, r)
}

// replay tells the handler what was kept: images before indexes, since an index
// is refused before its images are there.
func (s *store) replay() error {
	var images, indexes []kept
	err := filepath.WalkDir(s.refs, func(file string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && file == s.refs {
			return fs.SkipAll
		}
		if err != nil || e.IsDir() {
			return err
		}
		k, err := s.read(file)
		if types.MediaType(k.MediaType).IsIndex() {
			indexes = append(indexes, k)
		} else {
			images = append(images, k)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, k := range images {
		if err := s.restore(k); err != nil {
			return err
		}
	}
	return s.restoreIndexes(indexes)
}

// place is a tag or digest of a repository.
type place struct{ repo, ref string }

// kept is one record with where it was found and the bytes it names.
type kept struct {
	record
	place
	raw []byte
}

func (s *store) read(file string) (kept, error) {
	var k kept
	rel, err := filepath.Rel(s.refs, file)
	if err != nil {
		return k, err
	}
	dir, ref := path.Split(filepath.ToSlash(rel))
	k.repo, k.ref = strings.TrimSuffix(dir, "/_refs/"), strings.Replace(ref, "@", ":", 1)
	text, err := os.ReadFile(file)
	if err != nil {
		return k, err
	}
	if err := json.Unmarshal(text, &k.record); err != nil {
		return k, fmt.Errorf("%s: %w", file, err)
	}
	k.raw, err = os.ReadFile(s.blobs.path(k.Digest))
	return k, err
}

// restoreIndexes goes over the list until nothing changes: indexes may name
// indexes.
func (s *store) restoreIndexes(list []kept) error {
	for len(list) > 0 {
		var left []kept
		var last error
		for _, k := range list {
			if err := s.restore(k); err != nil {
				left, last = append(left, k), err
			}
		}
		if len(left) == len(list) {
			return last
		}
		list = left
	}
	return nil
}

func (s *store) restore(k kept) error {
	r := &http.Request{
		Method: http.MethodPut, Header: http.Header{"Content-Type": {k.MediaType}},
		URL: &url.URL{Path: "/v2/" + k.repo + "/manifests/" + k.ref},
	}
	if answer := s.tell(r, k.raw); answer.code != http.StatusCreated {
		return fmt.Errorf("restore %s %s: %s", k.repo, k.ref, strings.TrimSpace(answer.body.String()))
	}
	return nil
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	type problem struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string][]problem{"errors": {{code, message}}})
}
