package faulty

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"
)

// answer is what the registry said, held in memory.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// write hands an answer on as it is.
func (a answer) write(w http.ResponseWriter, r *http.Request) {
	a.head(w)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body)
	}
}

func (a answer) head(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	if len(a.body) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
}

// cut promises the whole body, sends half of it and hangs up.
func (a answer) cut(w http.ResponseWriter) {
	if len(a.body) > 0 {
		a.head(w)
		_, _ = w.Write(a.body[:len(a.body)/2])
		flush(w)
	}
	drop(w)
}

// drip sends the body in eight parts with a pause before each.
func (a answer) drip(w http.ResponseWriter) {
	a.head(w)
	body := &slow{r: bytes.NewReader(a.body), part: len(a.body)/8 + 1}
	for {
		if _, err := io.CopyN(w, body, int64(body.part)); err != nil {
			return
		}
		flush(w)
	}
}

// slow reads at most part bytes at once, with a pause before.
type slow struct {
	r    io.Reader
	part int
}

const pause = 2 * time.Millisecond

func (s *slow) Read(p []byte) (int, error) {
	time.Sleep(pause)
	return s.r.Read(p[:min(len(p), s.part)])
}

// broken is the half of r that arrives.
func broken(r io.Reader, size int64) io.Reader {
	return io.MultiReader(io.LimitReader(r, size/2), failing{})
}

type failing struct{}

var errBroken = errors.New("the connection broke")

func (failing) Read([]byte) (int, error) { return 0, errBroken }

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// drop closes the connection with a reset.
func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's own way to hang up
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// drain reads what the client sends, so that it sees the answer.
func drain(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }

func flipped(body []byte) []byte {
	out := bytes.Clone(body)
	if len(out) > 0 {
		out[len(out)/2] ^= 0x20
	}
	return out
}
