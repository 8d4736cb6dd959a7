package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// remote is a repository in a registry.
type remote struct {
	client *Client
	repo   name.Repository
	name   string
	mode   Mode

	wrote sync.Map // ref → v1.Hash that this process put there
}

// errDryRun keeps what a [DryRun] knows nothing of from being written.
var errDryRun = errors.New("a dry run writes nothing")

// call is one request of the distribution API.
type call struct {
	method string
	path   string // below /v2/<repository>/
	at     string // absolute URL, instead of path
	body   []byte
	header map[string]string
	sink   *sink
	ok     []int
	stale  func(*http.Response) error
}

// accepted are the manifests that archmage reads; schema 1 is none of them.
var accepted = strings.Join([]string{
	string(types.OCIImageIndex), string(types.DockerManifestList),
	string(types.OCIManifestSchema1), string(types.DockerManifestSchema2),
}, ",")

func (r *remote) Name() string { return r.name }
func (r *remote) host() string { return r.repo.RegistryStr() }
func (r *remote) fail(op, ref string, err error) error {
	return fail(op, reference(r.name, ref), r.host(), err)
}

func (r *remote) url(path string) string {
	u := url.URL{Scheme: "https", Host: r.host(), Path: "/v2/" + r.repo.RepositoryStr() + "/" + path}
	if loopback(r.host()) {
		u.Scheme = "http"
	}
	return u.String()
}

// send makes one call, repeated as far as that helps. An answer that is not in
// c.ok is an *answer.
func (r *remote) send(ctx context.Context, c call) (*http.Response, error) {
	login, err := r.client.session(ctx, r.repo, r.mode)
	if err != nil {
		return nil, err
	}
	x := &exchange{login: login, pace: r.client.pace, sink: c.sink, stale: c.stale}
	return r.deliver(ctx, x, c)
}

func (r *remote) deliver(ctx context.Context, x *exchange, c call) (*http.Response, error) {
	if r.client.dry != nil && c.method != http.MethodGet && c.method != http.MethodHead {
		return nil, errDryRun
	}
	if c.at == "" {
		c.at = r.url(c.path)
	}
	var body io.Reader
	if c.body != nil {
		body = bytes.NewReader(c.body)
	}
	req, err := http.NewRequestWithContext(ctx, c.method, c.at, body)
	if err != nil {
		return nil, errors.New("the registry gave an address that is no URL")
	}
	for k, v := range c.header {
		req.Header.Set(k, v)
	}
	return finish(x, req, c.ok)
}

// finish follows redirects and turns an unwanted status into an *answer.
func finish(x *exchange, req *http.Request, ok []int) (*http.Response, error) {
	client := http.Client{Transport: x, CheckRedirect: checkRedirect}
	resp, err := client.Do(req)
	if err != nil {
		if req.Context().Err() != nil {
			return nil, context.Cause(req.Context())
		}
		return nil, err
	}
	defer resp.Body.Close()
	if err := transport.CheckError(resp, ok...); err != nil {
		return nil, &answer{err}
	}
	return resp, nil
}

// Head implements [Repository]. Registries that leave the headers out, or deny
// a HEAD without saying whether that is a rate limit, are asked with GET.
func (r *remote) Head(ctx context.Context, ref string) (v1.Descriptor, error) {
	resp, err := r.send(ctx, call{
		method: http.MethodHead, path: "manifests/" + ref, ok: []int{http.StatusOK},
		header: map[string]string{"Accept": accepted}, stale: r.staleness(ref),
	})
	if headDenied(err) {
		return r.headByGet(ctx, ref)
	}
	if err != nil {
		return v1.Descriptor{}, r.fail("read", ref, err)
	}
	digest, err := v1.NewHash(resp.Header.Get("Docker-Content-Digest"))
	mediaType := mediaTypeOf(resp)
	if err != nil || resp.ContentLength <= 0 || !mediaType.IsImage() && !mediaType.IsIndex() {
		return r.headByGet(ctx, ref)
	}
	if isDigest(ref) && digest.String() != ref {
		return v1.Descriptor{}, r.fail("read", ref, fmt.Errorf("digest mismatch: the registry answers with %s", digest))
	}
	return v1.Descriptor{MediaType: mediaType, Size: resp.ContentLength, Digest: digest}, nil
}

func (r *remote) headByGet(ctx context.Context, ref string) (v1.Descriptor, error) {
	m, err := r.Manifest(ctx, ref)
	return m.Descriptor(), err
}

// staleness judges answers about a ref that this process wrote; nil for others.
func (r *remote) staleness(ref string) func(*http.Response) error {
	wrote, ok := r.wrote.Load(ref)
	if !ok {
		return nil
	}
	want := wrote.(v1.Hash)
	return func(resp *http.Response) error {
		switch got := resp.Header.Get("Docker-Content-Digest"); {
		case resp.StatusCode == http.StatusNotFound:
			return fmt.Errorf("written as %s, but not there when read back", want)
		case resp.StatusCode == http.StatusOK && got != "" && got != want.String():
			return fmt.Errorf("written as %s, but names %s when read back", want, got)
		}
		return nil
	}
}

// Manifest implements [Repository].
func (r *remote) Manifest(ctx context.Context, ref string) (Manifest, error) {
	m, err := r.manifest(ctx, ref)
	return m, r.fail("read", ref, err)
}

func (r *remote) manifest(ctx context.Context, ref string) (Manifest, error) {
	body := &sink{size: -1}
	if isDigest(ref) {
		want, err := v1.NewHash(ref)
		if err != nil {
			return Manifest{}, err
		}
		body.want = want
	}
	resp, err := r.send(ctx, call{
		method: http.MethodGet, path: "manifests/" + ref, ok: []int{http.StatusOK},
		header: map[string]string{"Accept": accepted}, sink: body, stale: r.staleness(ref),
	})
	if err != nil {
		return Manifest{}, err
	}
	raw, err := body.bytes()
	if err != nil {
		return Manifest{}, err
	}
	m, err := NewManifest(raw, mediaTypeOf(resp))
	if said, ok := contentDigest(resp); ok && !isDigest(ref) && said != digestOf(raw) {
		return r.reread(ctx, said, m, err)
	}
	if err == nil {
		r.client.read.keep(r.name, m)
	}
	return m, err
}

// reread settles an answer about a tag whose body is not what its header says.
// The bytes may have been corrupted on the way, and whoever copies them would
// publish that: they are read again by the digest. There are also registries
// whose header is wrong; they have nothing under that digest.
func (r *remote) reread(ctx context.Context, said v1.Hash, m Manifest, bad error) (Manifest, error) {
	again, err := r.manifest(ctx, said.String())
	if kindOf(err) == ErrAbsent {
		return m, bad
	}
	return again, err
}

// contentDigest is the digest that an answer gives of what it is about.
func contentDigest(resp *http.Response) (v1.Hash, bool) {
	h, err := v1.NewHash(resp.Header.Get("Docker-Content-Digest"))
	return h, err == nil && h.Algorithm == "sha256"
}

func mediaTypeOf(resp *http.Response) types.MediaType {
	mt, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return types.MediaType(mt)
}

// Image implements [Repository]. A manifest that this client has just read,
// mostly by its tag, is not read again.
func (r *remote) Image(ctx context.Context, digest string) (v1.Image, error) {
	m, ok := r.client.read.get(r.name, digest)
	if !ok {
		var err error
		if m, err = r.Manifest(ctx, digest); err != nil {
			return nil, err
		}
	}
	img, err := newImage(m, r.opener(ctx), r.repo.Digest(digest))
	return img, r.fail("read", digest, err)
}

// opener reads blobs under ctx.
func (r *remote) opener(ctx context.Context) opener {
	return func(d v1.Descriptor) (io.ReadCloser, error) {
		body := &sink{want: d.Digest, size: d.Size}
		_, err := r.send(ctx, call{
			method: http.MethodGet, path: "blobs/" + d.Digest.String(), ok: []int{http.StatusOK}, sink: body,
		})
		if err != nil {
			return nil, r.fail("read", d.Digest.String(), err)
		}
		if body.got == nil {
			return nil, r.fail("read", d.Digest.String(), io.ErrUnexpectedEOF)
		}
		return body.got, nil
	}
}

// HasBlob implements [Repository]. A HEAD that is denied does not say whether
// that is a rate limit; the first byte is asked for then.
func (r *remote) HasBlob(ctx context.Context, digest string) error {
	c := call{method: http.MethodHead, path: "blobs/" + digest, ok: []int{http.StatusOK}}
	_, err := r.send(ctx, c)
	if headDenied(err) {
		c.method, c.header, c.ok = http.MethodGet, map[string]string{"Range": "bytes=0-0"}, []int{http.StatusOK, http.StatusPartialContent}
		_, err = r.send(ctx, c)
	}
	return r.fail("read", digest, err)
}

// headDenied reports whether a HEAD was answered by what only a GET explains.
func headDenied(err error) bool {
	var terr *transport.Error
	return errors.As(err, &terr) && (terr.StatusCode == http.StatusForbidden || terr.StatusCode == http.StatusMethodNotAllowed)
}

// maxTags is more than the largest repositories in public have.
const maxTags = 1 << 20

// Tags implements [Repository]. A registry may hand them out in pages
// (distribution-spec 1.1, "Listing Tags").
func (r *remote) Tags(ctx context.Context) ([]string, error) {
	tags := []string{}
	next := r.url("tags/list") + "?n=1000"
	for page := 0; next != ""; page++ {
		more, following, err := r.tagPage(ctx, next)
		if err == nil && (page > 1000 || len(tags) > maxTags) {
			err = errors.New("the list of tags does not end")
		}
		if err != nil {
			return nil, fail("list tags of", r.name, r.host(), err)
		}
		tags, next = append(tags, more...), following
	}
	slices.Sort(tags)
	return slices.Compact(tags), nil
}

func (r *remote) tagPage(ctx context.Context, at string) (tags []string, next string, err error) {
	body := &sink{size: -1}
	resp, err := r.send(ctx, call{method: http.MethodGet, at: at, ok: []int{http.StatusOK}, sink: body})
	if err != nil {
		return nil, "", err
	}
	raw, err := body.bytes()
	if err != nil {
		return nil, "", err
	}
	var list struct {
		Tags []string `json:"tags"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, "", fmt.Errorf("not a list of tags: %w", err)
	}
	next, err = nextPage(resp)
	return list.Tags, next, err
}

// nextPage reads the Link header, and stays with the host it came from.
func nextPage(resp *http.Response) (string, error) {
	target, rest, ok := strings.Cut(strings.TrimPrefix(resp.Header.Get("Link"), "<"), ">")
	if !ok || !strings.Contains(rest, "next") {
		return "", nil
	}
	u, err := resp.Request.URL.Parse(target)
	if err != nil || u.Host != resp.Request.URL.Host {
		return "", errors.New("the next page of tags is said to be elsewhere")
	}
	return u.String(), nil
}
