package faulty

import (
	"net/http"
	"strconv"
	"time"
)

// Fault is one thing that can go wrong.
type Fault string

// The faults. Those of a kind of request never happen to others.
const (
	None Fault = ""

	TooMany        Fault = "429"
	TooManySeconds Fault = "429, Retry-After in seconds"
	TooManyDate    Fault = "429, Retry-After as a date"
	Secondary      Fault = "403, secondary rate limit"
	Timeout        Fault = "408"
	Internal       Fault = "500"
	BadGateway     Fault = "502"
	Unavailable    Fault = "503"
	Reset          Fault = "connection reset before the answer"
	LostAnswer     Fault = "connection reset after the registry has done it"
	Expired        Fault = "401, token expired"

	Cut     Fault = "body cut short"                  // GET
	Corrupt Fault = "body corrupted"                  // GET of a blob or of a manifest by digest
	Drip    Fault = "body drop by drop"               // GET
	Stale   Fault = "read from before the last write" // GET, HEAD of a tag that was written

	CutUpload    Fault = "connection reset in the middle of an upload" // PUT of a blob
	UploadLost   Fault = "404, upload unknown"                         // PUT of a blob
	BlobNotThere Fault = "400, a blob of the manifest is unknown"      // PUT of a manifest
)

// Faults lists every fault.
func Faults() []Fault {
	return []Fault{
		TooMany, TooManySeconds, TooManyDate, Secondary, Timeout, Internal, BadGateway, Unavailable, Reset, LostAnswer, Expired,
		Cut, Corrupt, Drip, Stale, CutUpload, UploadLost, BlobNotThere,
	}
}

// fits reports whether a fault can happen to a request; p.mu is held.
func (p *Proxy) fits(f Fault, r *http.Request) bool {
	get, put := r.Method == http.MethodGet, r.Method == http.MethodPut
	switch f {
	case Cut, Drip:
		return get
	case Corrupt:
		return get && (isBlob(r.URL.Path) || isManifest(r.URL.Path) && isDigest(r.URL.Path))
	case Stale:
		_, written := p.tags[r.URL.Path]
		return written && !isDigest(r.URL.Path) && (get || r.Method == http.MethodHead)
	case CutUpload:
		return put && isUpload(r.URL.Path) && r.ContentLength > 1
	case UploadLost:
		return put && isUpload(r.URL.Path)
	case BlobNotThere:
		return put && isManifest(r.URL.Path)
	case Expired:
		return p.plan.Login
	}
	return true
}

// refusals are the faults that are an answer of their own. The registry never
// hears of the request.
var refusals = map[Fault]http.HandlerFunc{
	TooMany:        say(http.StatusTooManyRequests, "TOOMANYREQUESTS", "slow down", nil),
	TooManySeconds: say(http.StatusTooManyRequests, "TOOMANYREQUESTS", "slow down", func() string { return "1" }),
	TooManyDate: say(http.StatusTooManyRequests, "TOOMANYREQUESTS", "slow down", func() string {
		return time.Now().Add(time.Second).UTC().Format(http.TimeFormat)
	}),
	Secondary: say(http.StatusForbidden, "DENIED", "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
		func() string { return "1" }),
	Timeout:      say(http.StatusRequestTimeout, "UNKNOWN", "took too long", nil),
	Internal:     say(http.StatusInternalServerError, "UNKNOWN", "internal error", nil),
	BadGateway:   say(http.StatusBadGateway, "UNKNOWN", "bad gateway", nil),
	Unavailable:  say(http.StatusServiceUnavailable, "UNAVAILABLE", "unavailable", nil),
	UploadLost:   say(http.StatusNotFound, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry", nil),
	BlobNotThere: say(http.StatusBadRequest, "MANIFEST_BLOB_UNKNOWN", "blob unknown to registry", nil),
}

func say(status int, code, message string, after func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := `{"errors":[{"code":"` + code + `","message":"` + message + `"}]}`
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		if after != nil {
			w.Header().Set("Retry-After", after())
		}
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = w.Write([]byte(body))
		}
	}
}
