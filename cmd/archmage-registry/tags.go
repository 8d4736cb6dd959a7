package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// tags lists tags in pages (distribution spec 1.1, "Listing Tags").
// go-containerregistry's handler names no next page, and begins anew after the
// last tag.
type tags struct{ next http.Handler }

// ServeHTTP implements http.Handler.
func (s *tags) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	repo, what, ok := split(r.URL.Path, "tags")
	if !ok || what != "list" || r.Method != http.MethodGet {
		s.next.ServeHTTP(w, r)
		return
	}
	whole := r.Clone(r.Context())
	whole.URL.RawQuery = ""
	answer := ask(s.next, whole)
	var list struct {
		Name string   `json:"name"`
		Tags []string `json:"tags"`
	}
	if answer.code != http.StatusOK || json.Unmarshal(answer.body.Bytes(), &list) != nil {
		answer.release(w)
		return
	}
	page, more, err := cut(list.Tags, r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, "UNSUPPORTED", "n: "+err.Error())
		return
	}
	if more {
		after := url.Values{"n": {strconv.Itoa(len(page))}, "last": {page[len(page)-1]}}
		w.Header().Set("Link", "</v2/"+repo+"/tags/list?"+after.Encode()+`>; rel="next"`)
	}
	list.Tags = page
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // a client that left needs no answer
}

// cut returns the tags after last, n at most, and whether there are more. A page
// is never null: clients range over it.
func cut(sorted []string, query url.Values) (page []string, more bool, err error) {
	page = append([]string{}, sorted...)
	if last := query.Get("last"); last != "" {
		i, found := slices.BinarySearch(page, last)
		if found {
			i++
		}
		page = page[i:]
	}
	if !query.Has("n") {
		return page, false, nil
	}
	n, err := strconv.ParseUint(query.Get("n"), 10, 31)
	if err != nil || n >= uint64(len(page)) {
		return page, false, err
	}
	return page[:n], n > 0, nil
}
