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

// around logs what next is asked. Answers to writes are small, so that they leave
// after the line is written: a client that has one finds it.
func (l *writeLog) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		seen := &statusWriter{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(seen, r)
		l.mu.Lock()
		defer l.mu.Unlock()
		fmt.Fprintf(l.w, "%s %s %d\n", r.Method, r.URL.EscapedPath(), seen.code)
	})
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

// Unwrap is for [http.ResponseController].
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
