package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	ggcr "github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// putBlob makes sure that a blob is there, once per run.
func (r *remote) putBlob(ctx context.Context, l v1.Layer) error {
	h, err := l.Digest()
	if err != nil {
		return err
	}
	_, err = r.client.blobs.get(ctx, r.repo.Name()+"@"+h.String(), func() (struct{}, error) {
		_, err := r.send(ctx, call{method: http.MethodHead, path: "blobs/" + h.String(), ok: []int{http.StatusOK}})
		var final *answer
		if errors.As(err, &final) {
			err = r.bring(ctx, l, h) // absent, or a registry that denies the question
		}
		return struct{}{}, err
	})
	return err
}

// worthAMount is the least size, in bytes, of a blob that one repository waits
// for while it is sent to another, to mount it from there. What is smaller is
// sent in less time than a login for two repositories takes.
const worthAMount = 1 << 20

// bring mounts a blob from where it is known to be, or sends it. What several
// images of a run have in common, mostly layers of a base, is sent to the first
// of them alone.
func (r *remote) bring(ctx context.Context, l v1.Layer, h v1.Hash) error {
	from := r.mountSource(l)
	size, err := l.Size()
	if err != nil {
		return err
	}
	if from != "" || size < worthAMount {
		return r.upload(ctx, l, h, from)
	}
	mine := false
	at, err := r.client.sent.get(ctx, r.host()+"@"+h.String(), func() (string, error) {
		mine = true
		return r.repo.RepositoryStr(), r.upload(ctx, l, h, "")
	})
	if mine {
		return err
	}
	if err != nil {
		at = "" // it failed there, which says nothing of here
	}
	return r.upload(ctx, l, h, at)
}

// upload mounts a blob from a repository, "" being none, or sends it. A session
// of an upload that failed is not taken up again: the whole upload is repeated.
func (r *remote) upload(ctx context.Context, l v1.Layer, h v1.Hash, from string) error {
	select {
	case r.client.uploads <- struct{}{}:
		defer func() { <-r.client.uploads }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var also []string
	if from != "" {
		also = append(also, from)
	}
	login, err := r.client.session(ctx, r.repo, r.mode, also...)
	if err != nil && from != "" {
		// Not allowed to read there: a mount would be refused as well.
		from = ""
		login, err = r.client.session(ctx, r.repo, r.mode)
	}
	if err != nil {
		return err
	}
	x := &exchange{login: login, pace: r.client.pace, once: true}
	return r.client.pace.run(ctx, func() error {
		at, err := r.begin(ctx, x, h, from)
		var final *answer
		if from != "" && errors.As(err, &final) {
			from = "" // some registries fail on a mount that they cannot make
			at, err = r.begin(ctx, x, h, "")
		}
		if err != nil || at == "" {
			return err
		}
		return restart(r.host(), r.transfer(ctx, x, at, l, h))
	})
}

// mountSource is the repository of the same registry that l comes from, or "".
// A layer that only has another media type here says so by Unwrap.
func (r *remote) mountSource(l v1.Layer) string {
	for {
		wrapped, ok := l.(interface{ Unwrap() v1.Layer })
		if !ok {
			break
		}
		l = wrapped.Unwrap()
	}
	ml, ok := l.(*ggcr.MountableLayer)
	if !ok {
		return ""
	}
	from := ml.Reference.Context()
	if from.RegistryStr() != r.host() || from.RepositoryStr() == r.repo.RepositoryStr() {
		return ""
	}
	return from.RepositoryStr()
}

// begin opens an upload and returns where its bytes go, "" where the blob was
// mounted (distribution-spec 1.1, "Mounting a blob from another repository").
func (r *remote) begin(ctx context.Context, x *exchange, h v1.Hash, from string) (string, error) {
	at := r.url("blobs/uploads/")
	if from != "" {
		at += "?" + url.Values{"mount": {h.String()}, "from": {from}}.Encode()
	}
	resp, err := r.deliver(ctx, x, call{
		method: http.MethodPost, at: at, ok: []int{http.StatusCreated, http.StatusAccepted},
	})
	if err != nil || resp.StatusCode == http.StatusCreated {
		return "", err
	}
	return uploadAddress(resp, h)
}

// uploadAddress may be on another host, which gets no credentials.
func uploadAddress(resp *http.Response, h v1.Hash) (string, error) {
	location := resp.Header.Get("Location")
	u, err := resp.Request.URL.Parse(location)
	if location == "" || err != nil {
		return "", errors.New("the registry did not say where to upload to")
	}
	if err := checkHop(resp.Request.URL, u); err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("digest", h.String())
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// transfer sends the bytes in one request.
func (r *remote) transfer(ctx context.Context, x *exchange, at string, l v1.Layer, h v1.Hash) error {
	size, err := l.Size()
	if err != nil {
		return err
	}
	rc, err := l.Compressed()
	if err != nil {
		return err
	}
	body := &source{rc: rc, sent: func(n int64) {}}
	if tell := r.client.progress; tell != nil {
		body.sent = func(n int64) { tell(Transfer{Name: r.name, Digest: h.String(), Bytes: n, Total: size}) }
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, at, body)
	if err != nil {
		rc.Close()
		return errors.New("the registry gave an address that is no URL")
	}
	req.ContentLength = size
	if size == 0 {
		req.Body = http.NoBody
		rc.Close()
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	_, err = finish(x, req, []int{http.StatusCreated, http.StatusNoContent})
	if own := body.err(); own != nil && err != nil {
		return fmt.Errorf("read layer %s: %w", h, own)
	}
	return err
}

// source remembers that reading failed, which no other upload would mend.
// Errors after Close are of its being closed: the transport does that as soon
// as the registry has answered.
type source struct {
	rc     io.ReadCloser
	n      int64         // bytes that were read
	sent   func(n int64) // told of them
	mu     sync.Mutex
	closed bool
	failed error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.rc.Read(p)
	s.n += int64(n)
	s.sent(s.n)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && err != io.EOF && !s.closed {
		s.failed = err
	}
	return n, err
}

func (s *source) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.rc.Close()
}

func (s *source) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// restart marks the answers that say an upload went wrong on the way.
func restart(host string, err error) error {
	var final *answer
	var terr *transport.Error
	if !errors.As(err, &final) || !errors.As(err, &terr) {
		return err
	}
	lost := terr.StatusCode == http.StatusNotFound || terr.StatusCode == http.StatusRequestedRangeNotSatisfiable
	if !lost && !carries(terr, transport.BlobUploadInvalidErrorCode, transport.BlobUploadUnknownErrorCode, transport.DigestInvalidErrorCode) {
		return err
	}
	return &again{host: host, reason: "upload lost", cause: err}
}
