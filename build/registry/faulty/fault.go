package faulty

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault is one thing that can go wrong.
type Fault string

// The faults. Those of a kind of request never happen to others.
const (
	None Fault = ""

	TooMany            Fault = "429"
	TooManySeconds     Fault = "429, Retry-After in seconds"
	TooManyDate        Fault = "429, Retry-After as a date"
	Secondary          Fault = "403, secondary rate limit"
	SecondarySeconds   Fault = "403, secondary rate limit, Retry-After in seconds"
	Timeout            Fault = "408"
	Internal           Fault = "500"
	BadGateway         Fault = "502"
	Unavailable        Fault = "503"
	UnavailableSeconds Fault = "503, Retry-After in seconds"
	Reset              Fault = "connection reset before the answer"
	LostAnswer         Fault = "connection reset after the registry has done it"
	Expired            Fault = "401, token expired"

	Cut     Fault = "body cut short"
	Corrupt Fault = "body corrupted"
	Drip    Fault = "body drop by drop"
	Stale   Fault = "answer from before the last write"

	CutUpload    Fault = "connection reset in the middle of an upload"
	DripUpload   Fault = "upload drop by drop"
	UploadLost   Fault = "404, upload unknown"
	BlobNotThere Fault = "400, a blob of the manifest is unknown"
)

// Faults lists every fault.
func Faults() []Fault {
	return []Fault{
		TooMany, TooManySeconds, TooManyDate, Secondary, SecondarySeconds, Timeout, Internal, BadGateway, Unavailable, UnavailableSeconds,
		Reset, LostAnswer, Expired, Cut, Corrupt, Drip, Stale, CutUpload, DripUpload, UploadLost, BlobNotThere,
	}
}

// Where says which requests a fault can happen to.
func (f Fault) Where() string {
	switch f {
	case Cut, Drip:
		return "every GET"
	case Corrupt:
		return "GET of a blob or a manifest"
	case Stale:
		return "GET, HEAD of a tag that was written"
	case CutUpload, DripUpload, UploadLost:
		return "PUT of a blob"
	case BlobNotThere:
		return "PUT of a manifest"
	case Expired:
		return "every request with a token"
	}
	return "every request"
}

// fits reports whether a fault can happen to a request; p.mu is held.
func (p *Proxy) fits(f Fault, r *http.Request) bool {
	get, put := r.Method == http.MethodGet, r.Method == http.MethodPut
	switch f {
	case Cut, Drip:
		return get
	case Corrupt:
		return get && (isBlob(r.URL.Path) || isManifest(r.URL.Path))
	case Stale:
		_, written := p.tags[r.URL.Path]
		return written && (get || r.Method == http.MethodHead)
	case CutUpload, DripUpload:
		return put && isUpload(r.URL.Path) && r.ContentLength > 1
	case UploadLost:
		return put && isUpload(r.URL.Path)
	case BlobNotThere:
		return put && isManifest(r.URL.Path)
	case Expired:
		// The answer to it is a new token, which has to be good for several
		// that ask the same at once.
		return p.plan.Login && bearer(r) != "" && !p.renewed[key(r)]
	}
	return true
}

// refusals are the faults that are an answer of their own. The registry never
// hears of the request.
func (p *Proxy) refusal(f Fault) (http.HandlerFunc, bool) {
	const rate, second = "TOOMANYREQUESTS", "1"
	switch f {
	case TooMany:
		return say(http.StatusTooManyRequests, rate, "slow down", ""), true
	case TooManySeconds:
		return say(http.StatusTooManyRequests, rate, "slow down", second), true
	case TooManyDate:
		at := p.now().Add(2 * time.Second).UTC() // a date has no fractions
		return say(http.StatusTooManyRequests, rate, "slow down", at.Format(http.TimeFormat)), true
	case Secondary:
		return say(http.StatusForbidden, "DENIED", secondary, ""), true
	case SecondarySeconds:
		return say(http.StatusForbidden, "DENIED", secondary, second), true
	case Timeout:
		return say(http.StatusRequestTimeout, "UNKNOWN", "took too long", ""), true
	case Internal:
		return say(http.StatusInternalServerError, "UNKNOWN", "internal error", ""), true
	case BadGateway:
		return say(http.StatusBadGateway, "UNKNOWN", "bad gateway", ""), true
	case Unavailable:
		return say(http.StatusServiceUnavailable, "UNAVAILABLE", "unavailable", ""), true
	case UnavailableSeconds:
		return say(http.StatusServiceUnavailable, "UNAVAILABLE", "unavailable", second), true
	case UploadLost:
		return say(http.StatusNotFound, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry", ""), true
	case BlobNotThere:
		return say(http.StatusBadRequest, "MANIFEST_BLOB_UNKNOWN", "blob unknown to registry", ""), true
	}
	return nil, false
}

// secondary is how GitHub words it.
const secondary = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."

func say(status int, code, message, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := `{"errors":[{"code":"` + code + `","message":"` + message + `"}]}`
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = w.Write([]byte(body))
		}
	}
}

func isManifest(path string) bool { return strings.Contains(path, "/manifests/") }
func isTag(path string) bool      { return isManifest(path) && !strings.Contains(path, "/sha256:") }
func isBlob(path string) bool     { return strings.Contains(path, "/blobs/sha256:") }
func isUpload(path string) bool   { return strings.Contains(path, "/blobs/uploads/") }

func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead
}
