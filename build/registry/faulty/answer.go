package faulty

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// write hands an answer on as it is.
func (a answer) write(w http.ResponseWriter, r *http.Request) {
	a.head(w)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body)
	}
}

func (a answer) head(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	if len(a.body) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
}

// cut promises the whole body, sends half of it and hangs up.
func (a answer) cut(w http.ResponseWriter) {
	if len(a.body) == 0 {
		drop(w)
		return
	}
	a.head(w)
	_, _ = w.Write(a.body[:len(a.body)/2])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	drop(w)
}

// drip sends the body in eight parts with a pause before each.
func (a answer) drip(w http.ResponseWriter) {
	a.head(w)
	for body, part := a.body, len(a.body)/8+1; len(body) > 0; {
		time.Sleep(5 * time.Millisecond)
		n := min(part, len(body))
		if _, err := w.Write(body[:n]); err != nil {
			return
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		body = body[n:]
	}
}

// drop closes the connection with a reset.
func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's own way to hang up
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// drain reads what the client sends, so that it sees the answer.
func drain(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }

// door keeps the login: it answers the token server's requests, and those that
// come without a good token. It reports whether it has.
func (p *Proxy) door(w http.ResponseWriter, r *http.Request) bool {
	p.mu.Lock()
	login, good := p.plan.Login, "Bearer "+token(p.serial)
	p.mu.Unlock()
	switch {
	case !login:
		return false
	case r.URL.Path == "/token":
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"token":%q}`, strings.TrimPrefix(good, "Bearer "))
		return true
	case r.Header.Get("Authorization") != good:
		drain(r)
		challenge(w, r)
		return true
	}
	return false
}

func token(serial int) string { return fmt.Sprintf("token-%d", serial) }

// expire makes every token that was given out a bad one.
func (p *Proxy) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serial++
}

func challenge(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="registry",scope="repository:`+repository(r.URL.Path)+`:pull,push"`)
	say(http.StatusUnauthorized, "UNAUTHORIZED", "authentication required", nil)(w, r)
}

func isDigest(path string) bool { return strings.Contains(path, "sha256:") }
