package registry

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// ErrAbsent is in errors about what is certainly not there: 404,
// MANIFEST_UNKNOWN, NAME_UNKNOWN. ErrDenied is in those about what the
// credentials, or their lack, do not allow. ErrDamaged is in those about a
// layout on disk that is not whole. Any other error leaves the question open.
var (
	ErrAbsent  = errors.New("absent")
	ErrDenied  = errors.New("denied")
	ErrDamaged = errors.New("damaged")
)

// Error is what a repository returns, e.g. "push ghcr.io/x/app:v1: cause".
type Error struct {
	Op, Ref string
	Err     error // the cause
	kind    error // ErrAbsent, ErrDenied or nil
	host    string

	uncreated bool // a push to a repository that has to be created first
}

func (e *Error) Error() string { return fmt.Sprintf("%s %s: %s", e.Op, e.Ref, e.cause()) }

// Unwrap gives errors.Is the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.kind == nil {
		return []error{e.Err}
	}
	return []error{e.kind, e.Err}
}

func (e *Error) cause() string {
	text := causeText(e.Err)
	var last *exhausted
	if errors.As(e.Err, &last) && last.why() != "" {
		text += " (" + last.why() + ")"
	}
	if e.kind != nil && !strings.HasPrefix(text, e.kind.Error()) {
		return e.kind.Error() + ": " + text
	}
	return text
}

// answer is a final answer of the registry to the request that was meant, as
// opposed to one of its login server, whose 404 says nothing about an image.
type answer struct{ error }

func (a *answer) Unwrap() error { return a.error }

// fail wraps the error of an operation; nil stays nil.
func fail(op, ref, host string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	e := &Error{Op: op, Ref: ref, Err: err, kind: kindOf(err), host: host}
	if op == "push" && e.kind == ErrAbsent {
		e.kind, e.uncreated = nil, true
	}
	return e
}

func kindOf(err error) error {
	var terr *transport.Error
	var last *exhausted
	if errors.Is(err, ErrAbsent) {
		return ErrAbsent
	}
	if errors.As(err, &last) {
		return nil // it is not settled what the answer would have been
	}
	if !errors.As(err, &terr) {
		return nil
	}
	var final *answer
	ours := errors.As(err, &final)
	switch code := terr.StatusCode; {
	case ours && code == http.StatusNotFound,
		ours && code < 500 && carries(terr, transport.ManifestUnknownErrorCode, transport.NameUnknownErrorCode):
		return ErrAbsent
	case code == http.StatusUnauthorized:
		return ErrDenied
	case code == http.StatusForbidden:
		return ErrDenied
	}
	return nil
}

// causeText is err without URLs, which hold query strings of signed addresses
// and sometimes passwords, and in which host and repository stand again.
func causeText(err error) string {
	var terr *transport.Error
	var uerr *url.Error
	switch {
	case errors.As(err, &terr):
		bare := *terr
		bare.Request = nil
		text := strings.Join(strings.Fields(bare.Error()), " ")
		if rest, ok := strings.CutPrefix(text, "unexpected status code "); ok {
			text = rest
		}
		return shorten(text)
	case errors.As(err, &uerr):
		return causeText(uerr.Err)
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// shorten keeps a proxy's HTML page out of a one-line error.
func shorten(text string) string {
	const most = 300
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Hint is what to do about it, "" where that is not known.
func (e *Error) Hint() string {
	host := displayHost(e.host)
	var unknown x509.UnknownAuthorityError
	var last *exhausted
	switch {
	case errors.As(e.Err, &last) && last.limit:
		return host + " wants fewer requests: run the same command again in a while; a higher IMAGE_RETRY_MAX waits for longer"
	case errors.As(e.Err, &last):
		return "run the same command again, it goes on from what is there; a higher IMAGE_RETRY_MAX tries for longer"
	case e.kind == ErrDenied && e.host == "ghcr.io":
		return "docker login ghcr.io, or set GITHUB_TOKEN to a token that may write packages"
	case e.kind == ErrDenied:
		return "docker login " + host + ", or set REGISTRY_AUTH_FILE or DOCKER_CONFIG"
	case e.uncreated:
		return "does the repository exist? some registries want it created before the first push"
	case errors.Is(e.Err, syscall.ECONNREFUSED) && loopback(e.host):
		return "nothing listens there; start a registry with: archmage-registry --listen " + e.host
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return "nothing listens at " + host + "; is it the right host and port?"
	case errors.Is(e.Err, http.ErrSchemeMismatch):
		return host + " speaks plain HTTP, which is used for localhost alone; give it TLS, or forward a local port to it"
	case errors.As(e.Err, &unknown):
		return "add the authority that signed " + host + "'s certificate to the system's, or name it in SSL_CERT_FILE"
	}
	return ""
}
