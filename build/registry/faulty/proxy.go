// Package faulty is a door in front of a registry that fails on purpose, for
// tests of what has to hold when registries and networks do. It speaks the
// distribution API only as far as it has to break it.
//
// What goes wrong is decided by a seed and by the request, not by the order in
// which requests arrive, so a schedule can be played again although several
// requests are under way at once.
package faulty

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Plan says what goes wrong and how often. The zero value breaks nothing.
type Plan struct {
	Seed   uint64
	Rate   float64 // share of requests that meet a fault, 0 to 1
	Streak int     // at most so many faults in a row for one method and path; 0 is no bound
	Faults []Fault // to choose from; nil is [Faults]
	First  Fault   // what the first request that it fits meets, whatever the seed says; None is nothing
	Login  bool    // ask for a bearer token; without it [Expired] never happens

	Now     func() time.Time // what dates are reckoned from; nil is time.Now
	OnWrite func(Write)      // told of every write, in its own goroutine, where it may block; may be nil
}

// Write is a request that changes the registry. It is told twice, unless a
// fault keeps it from the registry: before it is handed on, and when the
// registry has done it and the client has not heard of that.
type Write struct {
	N      int // from 1, in the order of arrival since [Proxy.Set]
	Method string
	Path   string
	Done   bool
}

// Proxy is an [http.Handler] in front of a registry. It is safe for concurrent
// use.
type Proxy struct {
	upstream *url.URL
	client   *http.Client

	mu       sync.Mutex
	plan     Plan
	first    Fault // plan.First, until it has happened
	writes   int
	seen     map[string]uint64 // requests so far, by method and path
	streak   map[string]int
	renewed  map[string]bool // requests that a token has expired for since [Proxy.Set]
	injected map[Fault]int
	tags     map[string]answer // what a tag named before it was last written
	given    map[string]bool   // tokens
	expired  map[string]bool   // token and what it no longer opens
	uploads  map[string]int    // blobs that arrived whole, by repository@digest
}

// New makes a proxy in front of the registry at upstream, e.g.
// http://127.0.0.1:5000.
func New(upstream *url.URL, plan Plan) *Proxy {
	p := &Proxy{
		upstream: upstream,
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 50, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		injected: map[Fault]int{}, given: map[string]bool{}, expired: map[string]bool{}, uploads: map[string]int{},
	}
	p.Set(plan)
	return p
}

// Serve starts a proxy on a loopback port and returns its host:port. close ends
// it with all its connections.
func Serve(upstream *url.URL, plan Plan) (p *Proxy, host string, closeAll func()) {
	p = New(upstream, plan)
	s := httptest.NewServer(p)
	return p, s.Listener.Addr().String(), func() {
		s.CloseClientConnections()
		s.Close()
		p.client.CloseIdleConnections()
	}
}

// Set replaces the plan, and forgets what of the old one was under way: what is
// written is no longer stale to anybody.
func (p *Proxy) Set(plan Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan, p.writes, p.first = plan, 0, plan.First
	p.seen, p.streak, p.renewed, p.tags = map[string]uint64{}, map[string]int{}, map[string]bool{}, map[string]answer{}
}

// Injected counts the faults so far.
func (p *Proxy) Injected() map[Fault]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.injected)
}

// Uploads counts, by repository@digest, how often a blob was sent whole.
func (p *Proxy) Uploads() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.uploads)
}

// Writes counts those that arrived since [Proxy.Set].
func (p *Proxy) Writes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes
}

func (p *Proxy) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plan.Now == nil {
		return time.Now()
	}
	return p.plan.Now()
}

// ServeHTTP implements [http.Handler].
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	keep := p.door(r)
	if keep != nil && r.URL.Path != "/token" {
		drain(r)
		keep(w, r)
		return
	}
	f := p.choose(r)
	if refuse, ok := p.refusal(f); ok {
		drain(r)
		refuse(w, r)
		return
	}
	switch f {
	case Reset:
		drop(w)
	case Expired:
		p.expire(r)
		drain(r)
		challenge(w, r)
	case Stale:
		p.mu.Lock()
		old := p.tags[r.URL.Path]
		p.mu.Unlock()
		old.write(w, r)
	default:
		p.answer(w, r, f, keep)
	}
}

// answer asks the registry, or where local is set that, and hands on what it
// says, or part of it.
func (p *Proxy) answer(w http.ResponseWriter, r *http.Request, f Fault, local http.HandlerFunc) {
	var got answer
	var err error
	if local != nil {
		rec := httptest.NewRecorder()
		local(rec, r)
		got = answer{rec.Code, rec.Header(), rec.Body.Bytes()}
	} else {
		got, err = p.pass(r, f)
	}
	switch {
	case f == LostAnswer || f == CutUpload:
		drop(w)
	case err != nil:
		http.Error(w, "upstream: "+err.Error(), http.StatusBadGateway)
	case f == Cut:
		got.cut(w)
	case f == Corrupt:
		got.body = flipped(got.body)
		got.write(w, r)
	case f == Drip:
		got.drip(w)
	default:
		got.write(w, r)
	}
}

// pass hands a request on, and notes what it changed.
func (p *Proxy) pass(r *http.Request, f Fault) (answer, error) {
	told := p.tell(r)
	if r.Method == http.MethodPut && isTag(r.URL.Path) {
		p.remember(r)
	}
	body := io.Reader(r.Body)
	switch f {
	case CutUpload:
		body = broken(body, r.ContentLength)
	case DripUpload:
		body = &slow{r: body, part: int(r.ContentLength/8) + 1}
	}
	got, err := p.ask(r, body)
	if digest := r.URL.Query().Get("digest"); err == nil && r.Method == http.MethodPut && digest != "" && got.status == http.StatusCreated {
		p.mu.Lock()
		p.uploads[repository(r.URL.Path)+"@"+digest]++
		p.mu.Unlock()
	}
	if err == nil {
		told()
	}
	return got, err
}

// tell tells of a write before, and with what it returns after it is done.
func (p *Proxy) tell(r *http.Request) (done func()) {
	if !isWrite(r) {
		return func() {}
	}
	p.mu.Lock()
	p.writes++
	event, on := Write{N: p.writes, Method: r.Method, Path: r.URL.Path}, p.plan.OnWrite
	p.mu.Unlock()
	if on == nil {
		return func() {}
	}
	on(event)
	event.Done = true
	return func() { on(event) }
}

// ask is the registry's own answer.
func (p *Proxy) ask(r *http.Request, body io.Reader) (answer, error) {
	u := *r.URL
	u.Scheme, u.Host = p.upstream.Scheme, p.upstream.Host
	req, err := http.NewRequestWithContext(r.Context(), r.Method, u.String(), body)
	if err != nil {
		return answer{}, err
	}
	req.ContentLength = r.ContentLength
	if r.ContentLength == 0 {
		req.Body = http.NoBody
	}
	req.Header = r.Header.Clone()
	req.Header.Del("Authorization") // it is the door's
	req.Host = r.Host               // so that addresses of uploads lead through the door
	resp, err := p.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, raw}, err
}

// remember keeps what a tag names before it is written, for [Stale].
func (p *Proxy) remember(r *http.Request) {
	before := r.Clone(r.Context())
	before.Method, before.ContentLength = http.MethodGet, 0
	before.Header = http.Header{"Accept": {manifests}}
	old, err := p.ask(before, http.NoBody)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tags[r.URL.Path] = old
}

const manifests = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, " +
	"application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json, */*"

// repository is the name in /v2/<name>/blobs/….
func repository(path string) string {
	path = strings.TrimPrefix(path, "/v2/")
	for _, part := range []string{"/blobs/", "/manifests/", "/tags/", "/referrers/"} {
		if name, _, ok := strings.Cut(path, part); ok {
			return name
		}
	}
	return path
}
