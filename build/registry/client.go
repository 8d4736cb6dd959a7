// Package registry reads and writes images where they are published: in a
// registry, or in an OCI layout on disk, which is a registry too.
//
// A [Client] is made once per run. It opens a [Repository] per image, and it
// resolves base images. Every question has three answers: present, absent
// ([ErrAbsent]), or unknown, which is every other error; a caller that writes
// goes on only after one of the first two.
//
// What can be repeated is repeated per request, here and nowhere above: see
// retry.go for what that is and how long it waits.
package registry

import (
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/archmage-go/archmage/build/cache"
)

// Options says how registries are reached. The zero value is usable: no
// retries, anonymous but for the user's docker login, one blob at a time, nothing
// remembered.
type Options struct {
	Auth    Auth
	Mirrors []Mirror

	RetryMax   int           // repeats of one request, beyond the first try
	RetryDelay time.Duration // first pause; it doubles
	Jobs       int           // blobs sent at once, of all images together; 0 is 1

	Facts cache.Store // remembers manifests and configs of bases between clients

	Transport http.RoundTripper // nil: TLS with the system's roots, proxies as the environment says
	Notify    func(Wait)        // told of every pause before it begins, from any goroutine; may be nil
	Progress  func(Transfer)    // told of every piece of a blob that is sent, from any goroutine; may be nil

	Clock Clock // the zero value is the system's

	DryRun *DryRun // where set, nothing is written, and no request is sent that could
}

// Auth is where credentials come from. It holds a token: never print it.
type Auth struct {
	DockerConfig string // directory of config.json; "" is ~/.docker, then where podman keeps its logins
	AuthFile     string // a containers-auth.json, asked before DockerConfig; it must exist
	GitHubToken  string // for exactly ghcr.io, where nothing else is stored for it
}

// Mirror says that base images whose name begins with Prefix, whole path
// elements of it, are read from To instead, e.g. gcr.io from
// localhost:5000/gcr. The longest Prefix that fits wins.
type Mirror struct{ Prefix, To string }

// Transfer is how far the upload of one blob is. One that is repeated begins at
// 0 again.
type Transfer struct {
	Name         string // of the repository, see [Repository.Name]
	Digest       string
	Bytes, Total int64 // sent, of how many
}

// Client talks to registries. It is safe for concurrent use, and it remembers
// for its lifetime what it has resolved, logged in to and seen.
type Client struct {
	mirrors  []Mirror
	keys     *keychain
	pace     *pacer
	dry      *DryRun
	base     http.RoundTripper
	facts    cache.Store
	progress func(Transfer)
	uploads  chan struct{} // a place for each that may run at once
	pings    memo[string, greeting]
	sessions memo[string, http.RoundTripper]
	blobs    memo[string, struct{}] // repository@digest: known to be there
	sent     memo[string, string]   // host@digest: the repository that it was uploaded to
	listing  memo[string, bool]     // host: whether it lists referrers itself
	read     recent
	bases    memo[string, Base]
	named    memo[string, Manifest] // what a base's reference names
}

// New makes a client.
func New(o Options) *Client {
	pace := &pacer{max: o.RetryMax, delay: o.RetryDelay, notify: o.Notify, clock: o.Clock.orReal()}
	inner := o.Transport
	if inner == nil {
		inner = defaultTransport(max(o.Jobs, 1))
	}
	return &Client{
		mirrors:  tidy(o.Mirrors),
		keys:     &keychain{auth: o.Auth},
		pace:     pace,
		dry:      o.DryRun,
		base:     &judge{inner: inner, pace: pace},
		facts:    o.Facts,
		progress: o.Progress,
		uploads:  make(chan struct{}, max(o.Jobs, 1)),
	}
}

// defaultTransport is net/http's with more idle connections per host, since a
// run talks to one or two hosts, and with an end to waiting for a registry that
// took a whole blob and never answers.
//
// It speaks HTTP/1.1. With HTTP/2 all uploads share one connection, and what may
// be under way on that is the server's choice: 64 KB with nginx, which is 3 MB/s
// over 20 ms. So there are connections for all uploads, and some for questions.
func defaultTransport(uploads int) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		Protocols:             &protocols,
		MaxIdleConns:          2 * (uploads + askedAtOnce),
		MaxIdleConnsPerHost:   uploads + askedAtOnce,
		MaxConnsPerHost:       uploads + askedAtOnce,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 5 * time.Minute,
		ExpectContinueTimeout: time.Second,
	}
}

// Open returns the repository named REGISTRY/path, e.g. ghcr.io/org/app. The
// name is checked as [CheckRepository] does; nothing is asked of the registry.
//
// With [Write], reads ask for permission to push as well, so that a registry
// which hides absent repositories from readers says that they are absent.
func (c *Client) Open(repository string, mode Mode) (Repository, error) {
	repo, err := c.open(repository, mode)
	if err != nil {
		return nil, err
	}
	return c.dry.Of(repo), nil
}

func (c *Client) open(repository string, mode Mode) (*remote, error) {
	if err := CheckRepository(repository); err != nil {
		return nil, err
	}
	repo, err := parseRepository(repository)
	if err != nil {
		return nil, err
	}
	return &remote{client: c, repo: repo, name: repository, mode: mode}, nil
}

// parseRepository is name.NewRepository with the one exception that makes for
// plain HTTP: a loopback host.
func parseRepository(text string) (name.Repository, error) {
	repo, err := name.NewRepository(text)
	if err != nil {
		return name.Repository{}, &NameError{Kind: "repository", Text: mask(text), Cause: "not a repository name"}
	}
	if loopback(repo.RegistryStr()) {
		return name.NewRepository(text, name.Insecure)
	}
	return repo, nil
}
