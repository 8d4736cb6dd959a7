package registry

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// judge tells answers that are worth another attempt from those that are final.
// It sits below authentication. The requests of a login (ping, token) it
// repeats itself; those of a caller that repeats the whole exchange, see
// [exchange], it returns as *again.
type judge struct {
	inner http.RoundTripper
	pace  *pacer
}

// callerRepeats marks, in a request's context, that the caller repeats it. Its
// value is the request's path: what else comes with that context is a login that
// the request has led to.
type callerRepeats struct{}

func repeating(req *http.Request) context.Context {
	return context.WithValue(req.Context(), callerRepeats{}, req.URL.Path)
}

// RoundTrip implements http.RoundTripper.
func (j *judge) RoundTrip(req *http.Request) (*http.Response, error) {
	if path := req.Context().Value(callerRepeats{}); path != nil {
		// Authentication sends a request twice when its token has expired.
		fresh, err := rewound(req)
		if err != nil {
			return nil, err
		}
		resp, err := j.once(fresh)
		if err != nil || path == req.URL.Path {
			return resp, err
		}
		if err := buffer(resp, req.URL.Host); err != nil {
			return nil, err
		}
		return resp, nil
	}
	var resp *http.Response
	err := j.pace.run(req.Context(), func() (err error) {
		fresh, err := rewound(req)
		if err != nil {
			return err
		}
		if resp, err = j.once(fresh); err != nil {
			return err
		}
		return buffer(resp, req.URL.Host)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// rewound is req with its body at the start again.
func rewound(req *http.Request) (*http.Request, error) {
	fresh := req.Clone(req.Context())
	if req.GetBody == nil {
		return fresh, nil
	}
	body, err := req.GetBody()
	fresh.Body = body
	return fresh, err
}

func (j *judge) once(req *http.Request) (*http.Response, error) {
	if err := j.pace.clear(req.Context(), req.URL.Host); err != nil {
		return nil, err
	}
	resp, err := j.inner.RoundTrip(req)
	if err != nil {
		if req.Context().Err() != nil {
			return nil, context.Cause(req.Context())
		}
		if final(err) {
			return nil, err
		}
		return nil, &again{host: req.URL.Host, reason: "connection failed", cause: err}
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return nil, &again{host: req.URL.Host, reason: "connection failed", cause: err}
	}
	if repeat := j.verdict(req, resp, body); repeat != nil {
		repeat.host, repeat.cause = req.URL.Host, transport.CheckError(resp)
		return nil, repeat
	}
	return resp, nil
}

const maxErrorBody = 64 << 10

// verdict returns nil for an answer that is final.
func (j *judge) verdict(req *http.Request, resp *http.Response, body []byte) *again {
	code := resp.StatusCode
	a := &again{reason: strconv.Itoa(code) + " " + http.StatusText(code), after: j.retryAfter(resp)}
	says := func(codes ...transport.ErrorCode) bool { return hasCode(resp, body, codes...) }
	switch {
	case code == 403 || code == 429:
		a.secondary = strings.Contains(strings.ToLower(string(body)), "secondary rate limit")
		a.limit = code == 429 || a.secondary || a.after > 0 || says(transport.TooManyRequestsErrorCode)
		if !a.limit {
			return nil
		}
		return a
	case code == 503:
		a.limit = a.after > 0
		return a
	case code == 408, code >= 500 && code != 501:
		return a
	case code < 500 && code != 401 && says(transport.TooManyRequestsErrorCode):
		a.limit = true
		return a
	case req.Method == http.MethodPut && isManifestPath(req.URL.Path) && (code == 400 || code == 404):
		// A registry that replicates may not see yet what was just pushed.
		if says(transport.ManifestBlobUnknownErrorCode, transport.BlobUnknownErrorCode, transport.ManifestUnknownErrorCode) {
			return a
		}
	}
	return nil
}

func isManifestPath(path string) bool {
	parts := strings.Split(path, "/")
	return len(parts) > 2 && parts[len(parts)-2] == "manifests"
}

// hasCode reports whether the registry's error document holds one of codes.
func hasCode(resp *http.Response, body []byte, codes ...transport.ErrorCode) bool {
	shadow := *resp
	shadow.Body = io.NopCloser(bytes.NewReader(body))
	var terr *transport.Error
	return errors.As(transport.CheckError(&shadow), &terr) && carries(terr, codes...)
}

func carries(terr *transport.Error, codes ...transport.ErrorCode) bool {
	return slices.ContainsFunc(terr.Errors, func(d transport.Diagnostic) bool { return slices.Contains(codes, d.Code) })
}

// retryAfter reads the header in both of its forms (RFC 9110, 10.2.3).
func (j *judge) retryAfter(resp *http.Response) time.Duration {
	text := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(j.pace.clock.Now()), 0)
	}
	return 0
}

// final reports whether trying again cannot help: nobody listens, the name does
// not exist, or the two sides do not speak the same protocol.
func final(err error) bool {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var alert tls.AlertError
	var unknown x509.UnknownAuthorityError
	var plain tls.RecordHeaderError
	switch {
	case errors.Is(err, errElsewhere), errors.Is(err, errPlainHTTP):
		return true
	case errors.As(err, &dns):
		return dns.IsNotFound
	case errors.As(err, &cert), errors.As(err, &alert), errors.As(err, &unknown), errors.As(err, &plain):
		return true
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// buffer reads the answer to a login request, so that one cut short is repeated.
func buffer(resp *http.Response, host string) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return &again{host: host, reason: "answer cut short", cause: err}
	}
	return nil
}
