package faulty

import (
	"fmt"
	"net/http"
	"strings"
)

// door keeps the login. It returns the answer to a request for a token and to
// one without a good token; nil lets a request pass.
func (p *Proxy) door(r *http.Request) http.HandlerFunc {
	p.mu.Lock()
	defer p.mu.Unlock()
	token := bearer(r)
	switch {
	case !p.plan.Login:
		return nil
	case r.URL.Path == "/token":
		return p.give
	case !p.given[token] || p.expired[token+" "+key(r)]:
		return challenge
	}
	return nil
}

// give hands out a token. Each that was ever given is good, but for what it has
// expired for.
func (p *Proxy) give(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	token := fmt.Sprintf("token-%d", len(p.given)+1)
	p.given[token] = true
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodHead {
		_, _ = fmt.Fprintf(w, `{"token":%q}`, token)
	}
}

// expire makes the token of a request a bad one for what it asks. For others it
// stays good, so that renewing it is enough, however many requests are under
// way at once.
func (p *Proxy) expire(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expired[bearer(r)+" "+key(r)] = true
}

func bearer(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

func challenge(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="registry",scope="repository:`+repository(r.URL.Path)+`:pull,push"`)
	say(http.StatusUnauthorized, "UNAUTHORIZED", "authentication required", "")(w, r)
}
