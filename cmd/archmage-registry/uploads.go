package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// uploads takes blobs in pieces (distribution spec 1.1, "Pushing blobs") into a
// file each, and hands them on in one piece once they are complete: the handler
// below checks the digest. That one keeps uploads in memory, takes one at a
// time, and tells neither where a blob is nor how far an upload came.
//
// What is never completed goes at the next start.
type uploads struct {
	next  http.Handler
	blobs *blobs
}

var idGrammar = regexp.MustCompile(`^[0-9]+$`)

// upload is one that has begun.
type upload struct{ repo, id string }

func (u upload) location() string { return "/v2/" + u.repo + "/blobs/uploads/" + u.id }

func (s *uploads) file(u upload) string { return filepath.Join(s.blobs.dir, uploading+u.id) }

// ServeHTTP implements http.Handler.
func (s *uploads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if strings.HasSuffix(path, "/blobs/uploads") {
		path += "/"
	}
	repo, id, ok := split(path, "blobs/uploads")
	u := upload{repo, id}
	switch {
	case !ok:
		s.next.ServeHTTP(w, r)
	case id == "" && r.Method == http.MethodPost:
		s.begin(w, r, u)
	case !idGrammar.MatchString(id):
		refuse(w, http.StatusNotFound, "BLOB_UPLOAD_UNKNOWN", "no such upload")
	case r.Method == http.MethodPatch:
		s.add(w, r, u)
	case r.Method == http.MethodPut:
		s.finish(w, r, u)
	case r.Method == http.MethodGet:
		s.status(w, u, http.StatusNoContent)
	case r.Method == http.MethodDelete:
		s.cancel(w, u)
	default:
		s.next.ServeHTTP(w, r)
	}
}

// begin takes a blob that is there already, by whatever repository, or whole in
// this request; otherwise an upload begins.
func (s *uploads) begin(w http.ResponseWriter, r *http.Request, u upload) {
	query := r.URL.Query()
	if h, err := v1.NewHash(query.Get("mount")); err == nil {
		if _, err := os.Stat(s.blobs.path(h)); err == nil {
			created(w, u.repo, h.String())
			return
		}
	}
	if query.Has("digest") {
		s.put(w, r, u, r.Body)
		return
	}
	f, err := os.CreateTemp(s.blobs.dir, uploading)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
		return
	}
	u.id = strings.TrimPrefix(filepath.Base(f.Name()), uploading)
	s.status(w, u, http.StatusAccepted)
}

// created is the answer to a blob that is complete.
func created(w http.ResponseWriter, repo, digest string) {
	w.Header().Set("Location", "/v2/"+repo+"/blobs/"+digest)
	w.Header().Set("Docker-Content-Digest", digest)
	w.WriteHeader(http.StatusCreated)
}

// status says how far an upload came.
func (s *uploads) status(w http.ResponseWriter, u upload, code int) {
	info, err := os.Stat(s.file(u))
	if err != nil {
		refuseUpload(w, err)
		return
	}
	w.Header().Set("Location", u.location())
	w.Header().Set("Docker-Upload-UUID", u.id)
	w.Header().Set("Range", fmt.Sprintf("0-%d", max(info.Size()-1, 0)))
	w.WriteHeader(code)
}

// errOrder is a chunk that does not begin where the last one ended.
var errOrder = errors.New("the chunk does not begin where the upload ends")

func refuseUpload(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		refuse(w, http.StatusNotFound, "BLOB_UPLOAD_UNKNOWN", "no such upload")
	case errors.Is(err, errOrder):
		refuse(w, http.StatusRequestedRangeNotSatisfiable, "BLOB_UPLOAD_INVALID", err.Error())
	default:
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
	}
}

func (s *uploads) add(w http.ResponseWriter, r *http.Request, u upload) {
	f, err := s.open(r, u)
	if err == nil {
		_, err = io.Copy(f, r.Body)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		refuseUpload(w, err)
		return
	}
	s.status(w, u, http.StatusAccepted)
}

// open opens an upload for a request that goes on with it.
func (s *uploads) open(r *http.Request, u upload) (*os.File, error) {
	f, err := os.OpenFile(s.file(u), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && !follows(r.Header.Get("Content-Range"), size) {
		err = errOrder
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// follows reports whether a Content-Range begins at size; without one a request
// goes on where the last one ended.
func follows(contentRange string, size int64) bool {
	if contentRange == "" {
		return true
	}
	start, _, _ := strings.Cut(contentRange, "-")
	n, err := strconv.ParseInt(start, 10, 64)
	return err == nil && n == size
}

// finish takes the last piece, which may be empty or all of it.
func (s *uploads) finish(w http.ResponseWriter, r *http.Request, u upload) {
	f, err := s.open(r, u)
	if err != nil {
		refuseUpload(w, err)
		return
	}
	defer f.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		refuseUpload(w, err)
		return
	}
	s.put(w, r, u, io.NopCloser(io.MultiReader(f, r.Body)))
	os.Remove(f.Name()) // what is left goes at the next start
}

// put hands a whole blob on.
func (s *uploads) put(w http.ResponseWriter, r *http.Request, u upload, blob io.ReadCloser) {
	digest := r.URL.Query().Get("digest")
	if _, err := v1.NewHash(digest); err != nil {
		refuse(w, http.StatusBadRequest, "DIGEST_INVALID", err.Error())
		return
	}
	whole := r.Clone(r.Context())
	whole.Method, whole.Body, whole.ContentLength = http.MethodPost, blob, -1
	whole.URL = &url.URL{Path: "/v2/" + u.repo + "/blobs/uploads/", RawQuery: url.Values{"digest": {digest}}.Encode()}
	answer := ask(s.next, whole)
	if answer.code == http.StatusCreated {
		created(w, u.repo, digest)
		return
	}
	answer.release(w)
}

func (s *uploads) cancel(w http.ResponseWriter, u upload) {
	if err := os.Remove(s.file(u)); err != nil {
		refuseUpload(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
