package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// kept is one record with where it was found and the bytes it names.
type kept struct {
	record
	place
	raw []byte
}

// replay tells the handler what was kept, in any order. The handler refuses an
// index before what it names is there, and what it names may have been deleted
// since: an empty manifest stands in for each, until the own one is told or, at
// the end, what has none goes.
func (s *store) replay() error {
	all, err := s.records()
	if err != nil {
		return err
	}
	var standIns []place
	for _, k := range all {
		standIns = append(standIns, children(k)...)
	}
	for _, at := range standIns {
		if err := s.restore(kept{place: at}); err != nil {
			return err
		}
	}
	there := map[place]bool{}
	for _, k := range all {
		if err := s.restore(k); err != nil {
			return err
		}
		there[k.place] = true
	}
	nothing, _, _ := v1.SHA256(strings.NewReader("")) // reading memory does not fail
	for _, at := range standIns {
		for _, gone := range []place{at, {at.repo, nothing.String()}} {
			if !there[gone] {
				ask(s.inner, request(http.MethodDelete, gone))
			}
		}
	}
	return nil
}

// records reads all there are, in the order of their files.
func (s *store) records() ([]kept, error) {
	var all []kept
	err := filepath.WalkDir(s.refs, func(file string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && file == s.refs {
			return fs.SkipAll
		}
		if err != nil || e.IsDir() {
			return err
		}
		k, err := s.read(file)
		all = append(all, k)
		return err
	})
	return all, err
}

func (s *store) read(file string) (kept, error) {
	var k kept
	rel, err := filepath.Rel(s.refs, file)
	if err != nil {
		return k, err
	}
	dir, ref := path.Split(filepath.ToSlash(rel))
	k.repo, k.ref = strings.TrimSuffix(dir, "/_refs/"), strings.Replace(ref, "@", ":", 1)
	if k.record, err = readRecord(file); err != nil {
		return k, err
	}
	k.raw, err = os.ReadFile(s.blobs.path(k.Digest))
	return k, err
}

// children are the places of what an index names.
func children(k kept) []place {
	if !types.MediaType(k.MediaType).IsIndex() {
		return nil
	}
	index, err := v1.ParseIndexManifest(strings.NewReader(string(k.raw)))
	if err != nil {
		return nil // the handler says so
	}
	var list []place
	for _, d := range index.Manifests {
		list = append(list, place{k.repo, d.Digest.String()})
	}
	return list
}

func request(method string, at place) *http.Request {
	return &http.Request{
		Method: method, Header: http.Header{},
		URL: &url.URL{Path: "/v2/" + at.repo + "/manifests/" + at.ref},
	}
}

func (s *store) restore(k kept) error {
	r := request(http.MethodPut, k.place)
	r.Header.Set("Content-Type", k.MediaType)
	if answer := s.tell(r, k.raw); answer.code != http.StatusCreated {
		return fmt.Errorf("restore %s %s: %s", k.repo, k.ref, strings.TrimSpace(answer.body.String()))
	}
	return nil
}
