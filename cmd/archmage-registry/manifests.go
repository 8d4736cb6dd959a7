package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
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
	mu    sync.Mutex // writes are taken one by one: memory and disk agree
}

// place is a tag or digest of a repository.
type place struct{ repo, ref string }

// record is what a ref names.
type record struct {
	MediaType string  `json:"mediaType"`
	Digest    v1.Hash `json:"digest"`
}

const maxManifest = 16 << 20

// ServeHTTP implements http.Handler.
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	repo, ref, ok := split(r.URL.Path, "manifests")
	at := place{repo, ref}
	switch {
	case !ok || r.Method != http.MethodPut && r.Method != http.MethodDelete:
		s.inner.ServeHTTP(w, r)
	case !refGrammar.MatchString(ref):
		refuse(w, http.StatusBadRequest, "MANIFEST_INVALID", "not a legal tag or sha256 digest")
	case r.Method == http.MethodPut:
		s.put(w, r, at)
	default:
		s.delete(w, r, at)
	}
}

func (s *store) put(w http.ResponseWriter, r *http.Request, at place) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxManifest))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "SIZE_INVALID", err.Error())
		return
	}
	digest, _, _ := v1.SHA256(bytes.NewReader(raw)) // reading memory does not fail
	if strings.Contains(at.ref, ":") && at.ref != digest.String() {
		refuse(w, http.StatusBadRequest, "DIGEST_INVALID", "the manifest is "+digest.String())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.tell(r, raw)
	if answer.code == http.StatusCreated {
		if err := s.keep(r.Context(), at, record{r.Header.Get("Content-Type"), digest}, raw); err != nil {
			refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
			return
		}
		answer.header.Set("Location", "/v2/"+at.repo+"/manifests/"+at.ref)
		if subject := subjectOf(raw); subject != "" {
			answer.header.Set("OCI-Subject", subject)
		}
	}
	answer.release(w)
}

// subjectOf returns the digest of what a manifest refers to, if it does. The
// answer names it: clients that miss it keep a list of referrers under a tag.
func subjectOf(raw []byte) string {
	var m struct {
		Subject *v1.Descriptor `json:"subject"`
	}
	if json.Unmarshal(raw, &m) != nil || m.Subject == nil {
		return ""
	}
	return m.Subject.Digest.String()
}

// tell passes a manifest on, and holds the answer back.
func (s *store) tell(r *http.Request, raw []byte) *held {
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(raw))
	return ask(s.inner, again)
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
		file := s.record(place{at.repo, name})
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
func (s *store) record(at place) string {
	return filepath.Join(s.refs, filepath.FromSlash(at.repo), "_refs", strings.Replace(at.ref, ":", "@", 1))
}

func readRecord(file string) (record, error) {
	var rec record
	text, err := os.ReadFile(file)
	if err != nil {
		return rec, err
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		return rec, fmt.Errorf("%s: %w", file, err)
	}
	return rec, nil
}

// delete takes a tag away, or a manifest together with the tags that name it,
// which would bring it back at the next start.
func (s *store) delete(w http.ResponseWriter, r *http.Request, at place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tags, err := s.tagsOf(at)
	for _, tag := range append(tags, at) {
		if err == nil {
			err = os.Remove(s.record(tag))
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err == nil && tag != at {
			ask(s.inner, request(http.MethodDelete, tag))
		}
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
		return
	}
	s.inner.ServeHTTP(w, r)
}

// tagsOf are the places of the tags that name a digest; none for a tag.
func (s *store) tagsOf(at place) ([]place, error) {
	if !strings.Contains(at.ref, ":") {
		return nil, nil
	}
	dir := filepath.Dir(s.record(at))
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []place
	for _, e := range entries {
		if strings.Contains(e.Name(), "@") {
			continue
		}
		rec, err := readRecord(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if rec.Digest.String() == at.ref {
			list = append(list, place{at.repo, e.Name()})
		}
	}
	return list, err
}
