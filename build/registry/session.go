package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// session returns a transport that is logged in to repo for mode, and for
// pulling from the repositories in also, of the same registry. Logins are made
// once per such set; go-containerregistry renews their tokens, keeps
// credentials from any other host, and refuses token servers in odd places.
func (c *Client) session(ctx context.Context, repo name.Repository, mode Mode, also ...string) (http.RoundTripper, error) {
	action := transport.PullScope
	if mode == Write {
		action = transport.PushScope // which includes pull
	}
	// Some registries look at the first scope alone.
	scopes := []string{repo.Scope(action)}
	for _, path := range also {
		scopes = append(scopes, repo.Registry.Repo(path).Scope(transport.PullScope))
	}
	key := repo.RegistryStr() + " " + strings.Join(scopes, " ")
	return c.sessions.get(ctx, key, func() (http.RoundTripper, error) {
		auth, err := c.keys.find(repo)
		if err != nil {
			return nil, err
		}
		door := &guard{registry: repo.RegistryStr(), plain: loopback(repo.RegistryStr()), secret: auth != authn.Anonymous, inner: c.base, pings: &c.pings}
		login, err := transport.NewWithContext(ctx, repo.Registry, auth, transport.NewUserAgent(door, "archmage"), scopes)
		if err != nil {
			return nil, fmt.Errorf("log in to %s: %w", displayHost(repo.RegistryStr()), err)
		}
		return login, nil
	})
}

func displayHost(host string) string {
	if host == name.DefaultRegistry {
		return "docker.io"
	}
	return host
}

var errPlainHTTP = errors.New("plain HTTP is spoken with this machine alone")

// guard decides between HTTP and HTTPS, below everything that has an opinion:
// the registry's own host is plain exactly when it is loopback. Other hosts,
// where token servers and blobs are, may be plain only when they and the
// registry are loopback.
//
// It also keeps a login where it is. go-containerregistry leaves credentials
// out of the header of a redirected request, but sends the body of one again,
// which is where a refresh token is; and it logs in where a redirected ping
// says. That is refused; without credentials there is nothing to keep.
type guard struct {
	registry string
	plain    bool
	secret   bool // there are credentials
	inner    http.RoundTripper
	pings    *memo[string, greeting]
}

var errElsewhere = errors.New("the login is redirected to another host, which gets no credentials")

// leaves reports whether req takes a login to another host.
func (g *guard) leaves(req *http.Request) bool {
	if !g.secret || req.Response == nil || req.Response.Request == nil {
		return false
	}
	from := req.Response.Request.URL
	ping := from.Host == g.registry && from.Path == "/v2/"
	form := req.Header.Get("Content-Type") == "application/x-www-form-urlencoded"
	return from.Host != req.URL.Host && (ping || form || req.Header.Get("Authorization") != "")
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if g.leaves(req) {
		return nil, errElsewhere
	}
	if req.URL.Host != g.registry {
		if req.URL.Scheme != "https" && !(g.plain && loopback(req.URL.Host)) {
			return nil, errPlainHTTP
		}
		return g.inner.RoundTrip(req)
	}
	if req.URL.Scheme == "http" && req.URL.Path == "/v2/" {
		// go-containerregistry pings hosts that it takes for local over HTTPS
		// and over HTTP. The first ping has settled the matter.
		return nil, errPlainHTTP
	}
	fresh := req.Clone(req.Context())
	fresh.URL.Scheme = "https"
	if g.plain {
		fresh.URL.Scheme = "http"
	}
	resp, err := g.greeted(fresh)
	if resp != nil {
		resp.Request = fresh // the scheme that was used is what callers go by
	}
	return resp, err
}

// checkRedirect refuses what no registry needs: long chains, and leaving HTTPS.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	return checkHop(via[len(via)-1].URL, req.URL)
}

func checkHop(from, to *url.URL) error {
	if to.Scheme == "https" || from.Scheme == "http" && to.Scheme == "http" && loopback(to.Host) {
		return nil
	}
	return fmt.Errorf("redirect from %s to %s: %w", from.Host, to.Host, errPlainHTTP)
}

// exchange is one request with its answer, repeated as a whole: the login it
// may need, the request, and the body, which goes into sink. It sits above
// authentication and below redirects, so that each hop is a request of its own.
type exchange struct {
	login http.RoundTripper
	pace  *pacer
	sink  *sink                      // nil: nobody wants a body
	once  bool                       // the caller repeats
	stale func(*http.Response) error // what is wrong with an answer from before our own write
}

// RoundTrip implements http.RoundTripper.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := repeating(req)
	var resp *http.Response
	try := func() (err error) {
		fresh, err := rewound(req)
		if err != nil {
			return err
		}
		if resp, err = x.login.RoundTrip(fresh.WithContext(ctx)); err != nil {
			return err
		}
		if x.stale != nil {
			if err := x.stale(resp); err != nil {
				resp.Body.Close()
				return &again{host: req.URL.Host, reason: "answers from before the last write", cause: err}
			}
		}
		if x.sink == nil || resp.StatusCode != http.StatusOK {
			return nil
		}
		err = x.sink.take(resp)
		if err != nil && !errors.Is(err, errLarger) && ctx.Err() == nil {
			return &again{host: req.URL.Host, reason: "answer cut short", cause: err}
		}
		return err
	}
	run := func() error { return x.pace.run(ctx, try) }
	if x.once {
		run = try
	}
	if err := run(); err != nil {
		return nil, err
	}
	return resp, nil
}
