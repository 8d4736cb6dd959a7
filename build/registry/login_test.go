package registry

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// dialing connects the hosts of to, and nothing else, to other addresses.
func dialing(to map[string]string) *http.Transport {
	return &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if real, ok := to[addr]; ok {
				return (&net.Dialer{}).DialContext(ctx, network, real)
			}
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		},
	}
}

// dockerConfig writes auths into a directory for Auth.DockerConfig.
func dockerConfig(t *testing.T, auths map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	writeAuths(t, filepath.Join(dir, "config.json"), auths)
	return dir
}

func writeAuths(t *testing.T, path string, auths map[string]string) {
	t.Helper()
	type entry struct {
		Auth string `json:"auth"`
	}
	file := map[string]map[string]entry{"auths": {}}
	for host, login := range auths {
		file["auths"][host] = entry{base64.StdEncoding.EncodeToString([]byte(login))}
	}
	raw, _ := json.Marshal(file)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func basic(login string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(login)) }

// wantsBasic is a registry behind a password.
func wantsBasic(login string) fault {
	return func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.Header.Get("Authorization") == basic(login) {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		return refuse(w, 401, problem("UNAUTHORIZED"))
	}
}

func TestBasicLogin(t *testing.T) {
	s := serve(t, wantsBasic("me:secret"))
	c, _ := testClient(t, Options{Auth: Auth{DockerConfig: dockerConfig(t, map[string]string{s.host: "me:secret"})}})
	if _, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", testImage(t, "linux/amd64", "one")); err != nil {
		t.Error(err)
	}
	c, clock := testClient(t, Options{RetryMax: 3, Auth: Auth{DockerConfig: dockerConfig(t, map[string]string{s.host: "me:wrong"})}})
	_, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v2", testImage(t, "linux/amd64", "two"))
	if !errors.Is(err, ErrDenied) || len(clock.pauses()) != 0 {
		t.Errorf("a wrong password: %v after %v", err, clock.pauses())
	}
	if !strings.HasPrefix(err.Error(), "push "+s.host+"/app:v2: denied: ") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("error %v", err)
	}
	if h := err.(*Error).Hint(); !strings.Contains(h, "docker login "+s.host) {
		t.Errorf("hint %q", h)
	}
}

func TestTokensAreFetchedOncePerScopeAndRenewedWhenTheyExpire(t *testing.T) {
	valid, scopes := 0, []string{}
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != basic("me:secret") {
			w.WriteHeader(401)
			return
		}
		valid++
		scopes = append(scopes, r.URL.Query().Get("scope"))
		fmt.Fprintf(w, `{"token":"t%d"}`, valid)
	}))
	t.Cleanup(tokens.Close)
	// A host name: token servers at foreign addresses are refused.
	realm := strings.Replace(tokens.URL, "127.0.0.1", "localhost", 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.Header.Get("Authorization") == fmt.Sprintf("Bearer t%d", valid) {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`/token",service="x"`)
		return refuse(w, 401, problem("UNAUTHORIZED"))
	})
	c, _ := testClient(t, Options{Auth: Auth{DockerConfig: dockerConfig(t, map[string]string{s.host: "me:secret"})}})
	r := open(t, c, s.host+"/app", Write)
	img := testImage(t, "linux/amd64", "one", "two", "three")
	if _, err := r.PutImage(t.Context(), "v1", img); err != nil {
		t.Fatal(err)
	}
	if valid != 1 || scopes[0] != "repository:app:push,pull" {
		t.Errorf("%d tokens for %q", valid, scopes)
	}
	valid = 100 // what was handed out is no longer taken
	m, err := r.Manifest(t.Context(), "v1")
	if err != nil {
		t.Fatal(err)
	}
	valid = 200
	if err := r.PutManifest(t.Context(), "v2", m); err != nil {
		t.Error(err)
	}
}

func TestCredentialsDoNotFollowARedirect(t *testing.T) {
	var leaked []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked = append(leaked, r.Header.Get("Authorization")+r.Header.Get("Cookie"))
		io.WriteString(w, "one")
	}))
	t.Cleanup(elsewhere.Close)
	bearer := func(w http.ResponseWriter, r *http.Request, n int) bool {
		switch {
		case r.URL.Path == "/token" && r.Header.Get("Authorization") == basic("me:secret"):
			io.WriteString(w, `{"token":"t"}`)
			return true
		case r.Header.Get("Authorization") == "Bearer t":
			return false
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="x"`)
		return refuse(w, 401, "")
	}
	for _, login := range []fault{wantsBasic("me:secret"), bearer} {
		img := testImage(t, "linux/amd64", "one")
		away := false
		s := serve(t, login, func(w http.ResponseWriter, r *http.Request, n int) bool {
			if away && r.Method == "GET" && strings.Contains(r.URL.Path, "/blobs/") {
				http.Redirect(w, r, elsewhere.URL+"/x", http.StatusTemporaryRedirect)
				return true
			}
			return false
		})
		c, _ := testClient(t, Options{Auth: Auth{DockerConfig: dockerConfig(t, map[string]string{s.host: "me:secret"})}})
		r := open(t, c, s.host+"/app", Write)
		if _, err := r.PutImage(t.Context(), "v1", img); err != nil {
			t.Fatal(err)
		}
		away = true
		back, err := r.Image(t.Context(), digest(t, img))
		if err != nil {
			t.Fatal(err)
		}
		if got := layerBytes(t, back, 0); got != "one" {
			t.Errorf("read %q", got)
		}
	}
	if len(leaked) != 2 || leaked[0]+leaked[1] != "" {
		t.Errorf("the other host was sent %q", leaked)
	}
}

func TestAnUploadElsewhereGetsNoCredentials(t *testing.T) {
	var leaked []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked = append(leaked, r.Header.Get("Authorization"))
		w.WriteHeader(201)
	}))
	t.Cleanup(elsewhere.Close)
	s := serve(t, wantsBasic("me:secret"), func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.Method == "POST" {
			w.Header().Set("Location", elsewhere.URL+"/up?sig=1")
			w.WriteHeader(202)
		}
		return r.Method == "POST"
	})
	c, _ := testClient(t, Options{Auth: Auth{DockerConfig: dockerConfig(t, map[string]string{s.host: "me:secret"})}})
	if _, err := open(t, c, s.host+"/app", Write).PutImage(t.Context(), "v1", testImage(t, "linux/amd64")); err != nil {
		t.Error(err)
	}
	if len(leaked) != 1 || leaked[0] != "" {
		t.Errorf("the other host was sent %q", leaked)
	}
}

// recorder answers every ping with 200, everything else with 404, and notes
// where requests went.
type recorder struct{ seen []string }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.seen = append(r.seen, req.URL.Scheme+"://"+req.URL.Host)
	w := httptest.NewRecorder()
	if req.URL.Path != "/v2/" {
		w.WriteHeader(404)
	}
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

func TestPlainHTTPIsForLoopbackAlone(t *testing.T) {
	for host, scheme := range map[string]string{
		"127.0.0.1:5000": "http", "127.1.2.3:5000": "http", "localhost:5000": "http", "[::1]:5000": "http", "localhost": "http",
		"10.0.0.1:5000": "https", "192.168.1.1": "https", "app.localhost:5000": "https", "ghcr.io": "https", "registry.local:80": "https",
		"127.0.0.1.example.com": "https",
	} {
		rec := &recorder{}
		c, _ := testClient(t, Options{Transport: rec})
		if _, err := open(t, c, host+"/app", Read).Head(t.Context(), "v1"); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v", host, err)
		}
		if len(rec.seen) != 2 {
			t.Errorf("%s: %d requests, want a ping and a HEAD", host, len(rec.seen))
		}
		for _, at := range rec.seen {
			if at != scheme+"://"+host {
				t.Errorf("%s: asked %s", host, at)
			}
		}
	}
}

func TestFailedTLSDoesNotFallBack(t *testing.T) {
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = quiet()
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	plain := serve(t)
	transport := dialing(map[string]string{
		"example.com:443": untrusted.Listener.Addr().String(),
		"plain.test:443":  plain.host,
		"10.0.0.9:443":    plain.host, "10.0.0.9:80": plain.host,
	})
	transport.TLSClientConfig = &tls.Config{}
	for host, hint := range map[string]string{
		"example.com": "authority", "plain.test": "speaks plain HTTP", "10.0.0.9": "speaks plain HTTP",
	} {
		c, clock := testClient(t, Options{Transport: transport, RetryMax: 3})
		_, err := open(t, c, host+"/app", Read).Head(t.Context(), "v1")
		if err == nil || errors.Is(err, ErrAbsent) || len(clock.pauses()) != 0 {
			t.Fatalf("%s: %v after %v", host, err, clock.pauses())
		}
		if h := err.(*Error).Hint(); !strings.Contains(h, hint) {
			t.Errorf("%s: hint %q of %v", host, h, err)
		}
	}
	if len(plain.seen) != 0 {
		t.Errorf("spoke plain HTTP: %q", plain.seen)
	}
}

func TestARedirectDoesNotLeaveHTTPS(t *testing.T) {
	transport := roundTrip(func(req *http.Request) *http.Response {
		w := httptest.NewRecorder()
		if req.URL.Path != "/v2/" {
			http.Redirect(w, req, "http://127.0.0.1:1/secrets", http.StatusFound)
		}
		return w.Result()
	})
	c, _ := testClient(t, Options{Transport: transport})
	_, err := open(t, c, "ghcr.io/app", Read).Manifest(t.Context(), "v1")
	if !errors.Is(err, errPlainHTTP) {
		t.Errorf("error %v", err)
	}
}

type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) {
	resp := f(req)
	resp.Request = req
	return resp, nil
}

func TestWhichCredentialsAreFound(t *testing.T) {
	dir := t.TempDir()
	authFile := filepath.Join(dir, "auth.json")
	writeAuths(t, authFile, map[string]string{
		"quay.io/org": "org:1", "quay.io/org/app": "app:1", "quay.io": "all:1", "quay.io/other": "other:1", "file.test": "file:1",
	})
	docker := dockerConfig(t, map[string]string{
		"docker.test": "docker:1", "file.test": "docker:2", "https://index.docker.io/v1/": "hub:1", "https://old.test/v1/": "old:1",
		"only.test/org": "path:1",
	})
	for repo, want := range map[string]string{
		"quay.io/org/app": "app:1", "quay.io/org/app2": "org:1", "quay.io/organic": "all:1", "quay.io/x/app": "all:1",
		"file.test/a": "file:1", "docker.test/a": "docker:1", "ubuntu": "hub:1", "docker.io/a/b": "hub:1", "old.test/a": "old:1",
		"only.test/org/a": "path:1", "only.test/else": "",
		"docker.test:5000/a": "", "sub.docker.test/a": "", "none.test/a": "",
		"ghcr.io/a": "x-access-token:gh", "ghcr.io.evil.test/a": "", "my.ghcr.io/a": "", "ghcr.io:8443/a": "",
	} {
		k := &keychain{auth: Auth{AuthFile: authFile, DockerConfig: docker, GitHubToken: "gh"}}
		r, err := name.NewRepository(repo)
		if err != nil {
			t.Fatal(err)
		}
		if got := credentials(t, k, r); got != want {
			t.Errorf("%s: %q, want %q", repo, got, want)
		}
	}
	stored := &keychain{auth: Auth{DockerConfig: dockerConfig(t, map[string]string{"ghcr.io": "me:1"}), GitHubToken: "gh"}}
	ghcr, _ := name.NewRepository("ghcr.io/a")
	if got := credentials(t, stored, ghcr); got != "me:1" {
		t.Errorf("a stored login does not come before the token: %q", got)
	}
}

func credentials(t *testing.T, k *keychain, r name.Repository) string {
	t.Helper()
	found, err := k.find(r)
	if err != nil {
		t.Fatal(err)
	}
	if found == authn.Anonymous {
		return ""
	}
	cfg, err := found.Authorization()
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Username + ":" + cfg.Password
}

func TestCredentialHelpersAreAsked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the helper is a shell script")
	}
	bin, docker := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\nread host\n[ $host = helped.test ] || { echo 'credentials not found in native keychain'; exit 1; }\n" +
		`echo "{\"ServerURL\":\"$host\",\"Username\":\"helper\",\"Secret\":\"1\"}"` + "\n"
	if err := os.WriteFile(filepath.Join(bin, "docker-credential-fake"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	config := `{"credHelpers":{"helped.test":"fake","else.test":"fake","broken.test":"nosuch"}}`
	if err := os.WriteFile(filepath.Join(docker, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	k := &keychain{auth: Auth{DockerConfig: docker}}
	for host, want := range map[string]string{"helped.test": "helper:1", "else.test": ""} {
		r, _ := name.NewRepository(host + "/a")
		if got := credentials(t, k, r); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	r, _ := name.NewRepository("broken.test/a")
	if _, err := k.find(r); err == nil || !strings.Contains(err.Error(), docker) || !strings.Contains(err.Error(), "docker-credential-nosuch") {
		t.Errorf("a helper that is not there: %v", err)
	}
}

func TestBrokenCredentialFilesAreNamedAndNotQuoted(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.json")
	for _, text := range []string{`{"auths":{"a":{"auth":"secret`, `{"auths":"secret"}`, `{"auths":{"a":{"auth":"c2VjcmV0"}}}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _ := testClient(t, Options{Auth: Auth{AuthFile: file}})
		_, err := open(t, c, "ghcr.io/app", Read).Head(t.Context(), "v1")
		if err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
	c, _ := testClient(t, Options{Auth: Auth{AuthFile: filepath.Join(dir, "none")}})
	if _, err := open(t, c, "ghcr.io/app", Read).Head(t.Context(), "v1"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("an auth file that is not there: %v", err)
	}
}
