package build

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	ggcrregistry "github.com/google/go-containerregistry/pkg/registry"

	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
)

// wire is a registry that counts what it is asked for, by kind. With login it
// gives tokens to anybody who asks, and nothing without one.
type wire struct {
	host  string
	login bool
	hold  func(*http.Request) // called before each answer; may be nil

	mu    sync.Mutex
	kinds map[string]int
}

func newWire(t *testing.T, login bool) *wire {
	t.Helper()
	w := &wire{login: login, kinds: map[string]int{}}
	inner := ggcrregistry.New(ggcrregistry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.kinds[kindOf(r)]++
		w.mu.Unlock()
		if w.hold != nil {
			w.hold(r)
		}
		switch {
		case r.URL.Path == "/token":
			io.WriteString(rw, `{"token":"t"}`)
		case w.login && r.Header.Get("Authorization") == "":
			rw.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="x"`)
			rw.WriteHeader(http.StatusUnauthorized)
		default:
			inner.ServeHTTP(rw, r)
		}
	}))
	t.Cleanup(s.Close)
	w.host = strings.TrimPrefix(s.URL, "http://")
	return w
}

// kindOf is what a request is for, without names.
func kindOf(r *http.Request) string {
	switch path := r.URL.Path; {
	case path == "/v2/":
		return "ping"
	case path == "/token":
		return "token"
	case strings.Contains(path, "/manifests/sha256:"):
		return r.Method + " digest"
	case strings.Contains(path, "/manifests/"):
		return r.Method + " tag"
	default:
		return r.Method + " blob"
	}
}

// take is the count since it was last taken.
func (w *wire) take() (kinds map[string]int, all int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kinds, w.kinds = w.kinds, map[string]int{}
	for _, n := range kinds {
		all += n
	}
	return kinds, all
}

// fleet is a checkout of images that are a base and a layer each, on two
// platforms. Each run remembers what the one before has learnt.
type fleet struct {
	t    *testing.T
	root string
	to   string

	platforms string
	jobs      string
	sbom      string
}

func newFleet(t *testing.T, to, base string, images int) *fleet {
	t.Helper()
	f := &fleet{t: t, root: t.TempDir(), to: to, platforms: "linux/amd64,linux/arm64", jobs: "2", sbom: "false"}
	for i := range images {
		f.write(fmt.Sprintf("dockerfiles/app%d.Dockerfile", i), fmt.Sprintf("FROM %s\nCOPY data/app%d /data/\n", base, i))
		f.change(i, "one")
	}
	return f
}

func (f *fleet) change(image int, content string) {
	f.write(fmt.Sprintf("data/app%d", image), fmt.Sprint(image, content))
}

func (f *fleet) write(name, content string) {
	f.t.Helper()
	file := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) run(verb func(*Project, context.Context) error, flags map[string]string) {
	f.t.Helper()
	all := map[string]string{"REGISTRY": f.to, "VERSION": "dev", "LOAD": "false", "IMAGE_JOBS": f.jobs, "IMAGE_PLATFORMS": f.platforms, "IMAGE_SBOM": f.sbom}
	maps.Copy(all, flags)
	var errOut bytes.Buffer
	src := config.Source{Root: f.root, Flags: all, Env: []string{"DOCKER_CONFIG=" + f.root}, Runner: fakeGit(strings.Repeat("a", 40))}
	p, err := Open(f.t.Context(), src, console.New(io.Discard, &errOut))
	if err == nil {
		err = verb(p, f.t.Context())
	}
	if err != nil {
		f.t.Fatalf("%v\n%s", err, errOut.String())
	}
}

func (f *fleet) push() { f.t.Helper(); f.run((*Project).Image, map[string]string{"PUSH": "true"}) }

func (f *fleet) manifest() {
	f.t.Helper()
	f.run(func(p *Project, ctx context.Context) error { return p.Manifest(ctx, PublishOptions{}) }, nil)
}

// TestRequests holds how many requests publishing takes, all counted: pings,
// logins and bases too. Round trips are what publishing over a distance costs. An
// SBOM is seven for a new leg, where the registry has no referrers API, and
// none for one that is unchanged.
func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		images                            int
		platforms                         []string
		login, sbom                       bool
		first, same, one, manifest, again int // at most
	}{
		{8, []string{"linux/amd64", "linux/arm64"}, false, false, 120, 18, 30, 97, 73},
		{8, []string{"linux/amd64", "linux/arm64"}, true, false, 129, 27, 39, 105, 81},
		{1, []string{"linux/amd64"}, false, false, 14, 3, 11, 9, 6},
		{1, []string{"linux/amd64"}, true, false, 16, 5, 13, 10, 7},
		{8, []string{"linux/amd64", "linux/arm64"}, false, true, 235, 18, 45, 97, 73},
		{1, []string{"linux/amd64"}, true, true, 27, 5, 21, 10, 7},
	} {
		legs := tt.images * len(tt.platforms)
		t.Run(fmt.Sprintf("%d legs, login %t, SBOM %t", legs, tt.login, tt.sbom), func(t *testing.T) {
			t.Setenv("HOME", t.TempDir())
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			w := newWire(t, tt.login)
			base := newFleet(t, w.host, "scratch", 1)
			base.change(0, "base")
			base.push()
			base.manifest()
			f := newFleet(t, w.host+"/x", w.host+"/app0:dev", tt.images)
			f.platforms, f.sbom = strings.Join(tt.platforms, ","), fmt.Sprint(tt.sbom)
			w.take()
			for _, step := range []struct {
				name string
				run  func()
				most int
			}{
				{"first push", f.push, tt.first},
				{"unchanged", f.push, tt.same},
				{"one changed", func() { f.change(0, "two"); f.push() }, tt.one},
				{"manifest", f.manifest, tt.manifest},
				{"manifest again", f.manifest, tt.again},
			} {
				step.run()
				kinds, all := w.take()
				var line []string
				for _, k := range slices.Sorted(maps.Keys(kinds)) {
					line = append(line, fmt.Sprintf("%s %d", k, kinds[k]))
				}
				t.Logf("%-15s %3d requests, %4.1f per leg: %s", step.name, all, float64(all)/float64(legs), strings.Join(line, ", "))
				if all > step.most {
					t.Errorf("%s: %d requests, at most %d are needed", step.name, all, step.most)
				}
			}
		})
	}
}
