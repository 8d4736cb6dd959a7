// Package faulty is a door in front of a registry that fails on purpose, for
// tests of what has to hold when registries and networks do. It speaks the
// distribution API only as far as it has to break it.
//
// What goes wrong is decided by a seed and by the request, not by the order in
// which requests arrive, so a schedule can be played again although several
// requests are under way at once.
package faulty

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Plan says what goes wrong and how often. The zero value breaks nothing.
type Plan struct {
	Seed   uint64
	Rate   float64 // share of requests that meet a fault, 0 to 1
	Streak int     // at most so many faults in a row for one method and path; 0 is no bound
	Faults []Fault // to choose from; nil is [Faults]
	Login  bool    // ask for a bearer token; without it [Expired] never happens
}

// Proxy is an [http.Handler] in front of a registry. It is safe for concurrent
// use.
type Proxy struct {
	upstream *url.URL
	client   *http.Client

	mu       sync.Mutex
	plan     Plan
	seen     map[string]uint64 // requests so far, by method and path
	streak   map[string]int
	injected map[Fault]int
	tags     map[string]answer // what a tag named before it was last written
	serial   int               // of the token that is good
	uploads  map[string]int    // blobs that arrived whole, by repository@digest
}

// New makes a proxy in front of the registry at upstream, e.g.
// http://127.0.0.1:5000.
func New(upstream *url.URL, plan Plan) *Proxy {
	return &Proxy{
		upstream: upstream, plan: plan,
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 50, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		seen: map[string]uint64{}, streak: map[string]int{}, injected: map[Fault]int{},
		tags: map[string]answer{}, uploads: map[string]int{},
	}
}

// Set replaces the plan, and forgets what of the old one was under way.
func (p *Proxy) Set(plan Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = plan
	clear(p.seen)
	clear(p.streak)
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

// answer is what the registry said, held in memory. A tag that was absent has
// status 404.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ServeHTTP implements [http.Handler].
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.door(w, r) {
		return
	}
	f := p.choose(r)
	if refuse, ok := refusals[f]; ok {
		drain(r)
		refuse(w, r)
		return
	}
	switch f {
	case Reset:
		drop(w)
		return
	case CutUpload:
		_, _ = io.CopyN(io.Discard, r.Body, 1+r.ContentLength/2)
		drop(w)
		return
	case Expired:
		p.expire()
		challenge(w, r)
		return
	case Stale:
		p.mu.Lock()
		old := p.tags[r.URL.Path]
		p.mu.Unlock()
		old.write(w, r)
		return
	}
	p.forward(w, r, f)
}

// forward asks the registry and hands on what it says, or part of it.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, f Fault) {
	if r.Method == http.MethodPut && isManifest(r.URL.Path) {
		p.remember(r)
	}
	got, err := p.ask(r)
	if err != nil {
		http.Error(w, "upstream: "+err.Error(), http.StatusBadGateway)
		return
	}
	if digest := r.URL.Query().Get("digest"); r.Method == http.MethodPut && digest != "" && got.status == http.StatusCreated {
		p.mu.Lock()
		p.uploads[repository(r.URL.Path)+"@"+digest]++
		p.mu.Unlock()
	}
	switch f {
	case LostAnswer:
		drop(w)
	case Cut:
		got.cut(w)
	case Corrupt:
		got.body = flipped(got.body)
		got.write(w, r)
	case Drip:
		got.drip(w)
	default:
		got.write(w, r)
	}
}

// ask is the registry's own answer.
func (p *Proxy) ask(r *http.Request) (answer, error) {
	u := *r.URL
	u.Scheme, u.Host = p.upstream.Scheme, p.upstream.Host
	req, err := http.NewRequestWithContext(r.Context(), r.Method, u.String(), r.Body)
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
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, body}, err
}

// remember keeps what a tag names before it is written, for [Stale].
func (p *Proxy) remember(r *http.Request) {
	before := r.Clone(r.Context())
	before.Method, before.Body, before.ContentLength = http.MethodGet, nil, 0
	before.Header = http.Header{"Accept": {"*/*", manifests}}
	old, err := p.ask(before)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tags[r.URL.Path] = old
}

const manifests = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, " +
	"application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json"

// choose decides what happens to a request.
func (p *Proxy) choose(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := r.Method + " " + stable(r.URL)
	n := p.seen[key]
	p.seen[key]++
	list := p.plan.Faults
	if list == nil {
		list = Faults()
	}
	dice := roll(p.plan.Seed, key, n)
	if float64(uint32(dice))/(1<<32) >= p.plan.Rate || p.plan.Streak > 0 && p.streak[key] >= p.plan.Streak {
		p.streak[key] = 0
		return None
	}
	f := list[(dice>>32)%uint64(len(list))]
	if !p.fits(f, r) {
		p.streak[key] = 0
		return None
	}
	p.streak[key]++
	p.injected[f]++
	return f
}

// stable is a request's address without what differs from run to run: uploads
// have addresses of their own.
func stable(u *url.URL) string {
	path, _, found := strings.Cut(u.Path, "/blobs/uploads/")
	if !found {
		return u.Path
	}
	return path + "/blobs/uploads/ " + u.Query().Get("digest")
}

func roll(seed uint64, key string, n uint64) uint64 {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, []uint64{seed, n})
	_, _ = io.WriteString(h, key)
	x := h.Sum64() // finished as splitmix64 is: neighbouring seeds share nothing
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

func isManifest(path string) bool { return strings.Contains(path, "/manifests/") }
func isBlob(path string) bool     { return strings.Contains(path, "/blobs/sha256:") }
func isUpload(path string) bool   { return strings.Contains(path, "/blobs/uploads/") }

// repository is the name in /v2/<name>/blobs/….
func repository(path string) string {
	path = strings.TrimPrefix(path, "/v2/")
	for _, part := range []string{"/blobs/", "/manifests/", "/tags/"} {
		if name, _, ok := strings.Cut(path, part); ok {
			return name
		}
	}
	return path
}

func flipped(body []byte) []byte {
	out := bytes.Clone(body)
	if len(out) > 0 {
		out[len(out)/2] ^= 0x20
	}
	return out
}
