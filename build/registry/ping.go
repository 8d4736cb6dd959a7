package registry

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// greeting is what a host answers when it is asked how to log in: the same for
// every repository, so it is asked once. The body is in memory.
type greeting struct {
	resp *http.Response
	body []byte
}

// errUnsettled keeps an answer that says nothing about logins from being
// remembered.
var errUnsettled = errors.New("no greeting")

// greeted passes a request to the registry on. A ping is answered from memory;
// none has credentials in it.
func (g *guard) greeted(req *http.Request) (*http.Response, error) {
	if req.URL.Path != "/v2/" || req.Method != http.MethodGet {
		return g.inner.RoundTrip(req)
	}
	got, err := g.pings.get(req.Context(), req.URL.Scheme+"://"+req.URL.Host, func() (greeting, error) {
		resp, err := g.inner.RoundTrip(req)
		if err != nil {
			return greeting{}, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusUnauthorized {
			err = errUnsettled
		}
		return greeting{resp, body}, err
	})
	if err != nil && !errors.Is(err, errUnsettled) {
		return nil, err
	}
	answer := *got.resp
	answer.Header = got.resp.Header.Clone()
	answer.Body = io.NopCloser(bytes.NewReader(got.body))
	return &answer, nil
}
