package main

import (
	"bytes"
	"maps"
	"net/http"
)

// held is an answer that no client has seen yet.
type held struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// ask has a handler answer, and holds the answer back.
func ask(h http.Handler, r *http.Request) *held {
	answer := &held{header: http.Header{}, code: http.StatusOK}
	h.ServeHTTP(answer, r)
	return answer
}

func (h *held) Header() http.Header         { return h.header }
func (h *held) WriteHeader(code int)        { h.code = code }
func (h *held) Write(p []byte) (int, error) { return h.body.Write(p) }

func (h *held) release(w http.ResponseWriter) {
	maps.Copy(w.Header(), h.header)
	w.WriteHeader(h.code)
	_, _ = w.Write(h.body.Bytes()) // a client that left needs no answer
}
