package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"sync"
)

// writeLog has one line for each request that wrote, or tried to.
type writeLog struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *writeLog) request(r *http.Request, code int) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, "%s %s %d\n", r.Method, r.URL.EscapedPath(), code)
}

// discard is a logger for the handler below, which logs reads as well.
func (l *writeLog) discard() *log.Logger { return log.New(io.Discard, "", 0) }

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	code int
}

func (s *statusWriter) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}
