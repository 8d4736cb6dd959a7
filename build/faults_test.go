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
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ggcrregistry "github.com/google/go-containerregistry/pkg/registry"

	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/registry/faulty"
	"github.com/archmage-go/archmage/build/run"
)

// Tests of whole runs against registries that fail. What is built has no RUN
// and no command, so that a run is registry traffic and little else.

// release is what one version publishes.
type release struct {
	version string
	commit  string
	seed    byte              // of the bytes in it
	digests map[string]string // of the index, by image
}

func releases() (old, recent *release) {
	return &release{version: "v0.9.0", commit: strings.Repeat("a", 40), seed: 1},
		&release{version: "v1.0.0", commit: strings.Repeat("b", 40), seed: 2}
}

// site is a checkout that publishes to a prefix of a registry.
type site struct {
	t     *testing.T
	root  string
	to    string // REGISTRY
	retry int
	clock *fakeClock
}

// newSite writes the files of a release.
func newSite(t *testing.T, to string, r *release) *site {
	t.Helper()
	s := &site{t: t, root: t.TempDir(), to: to, clock: newClock()}
	s.checkout(r)
	return s
}

// checkout replaces the files by those of another release.
func (s *site) checkout(r *release) {
	s.t.Helper()
	if err := faulty.Checkout(s.root, r.seed); err != nil {
		s.t.Fatal(err)
	}
}

// outcome is how a verb ended.
type outcome struct {
	code        int
	out, errOut string
}

// verb runs one with a client that never really waits.
func (s *site) verb(name string, r *release, flags map[string]string) outcome {
	var out, errOut bytes.Buffer
	c := console.New(&out, &errOut)
	err := s.attempt(c, name, r, flags)
	if err != nil {
		c.Error(err)
	}
	return outcome{ExitCode(err), out.String(), errOut.String()}
}

func (s *site) attempt(c *console.Console, name string, r *release, flags map[string]string) error {
	ctx := s.t.Context()
	all := map[string]string{
		"REGISTRY": s.to, "VERSION": r.version, "LOAD": "false", "IMAGE_JOBS": "4",
		"IMAGE_RETRY_MAX": fmt.Sprint(s.retry), "IMAGE_RETRY_DELAY": "1s",
	}
	maps.Copy(all, flags)
	p, err := Open(ctx, config.Source{Root: s.root, Flags: all, Env: []string{"DOCKER_CONFIG=" + s.root}, Runner: fakeGit(r.commit)}, c)
	if err != nil {
		return err
	}
	o := p.clientOptions()
	transport := &http.Transport{MaxIdleConnsPerHost: 50}
	defer transport.CloseIdleConnections()
	o.Clock, o.Transport = s.clock.clock(), transport
	p.client = registry.New(o)
	switch name {
	case "image":
		return p.Image(ctx)
	case "manifest":
		return p.Manifest(ctx, PublishOptions{})
	default:
		return p.Promote(ctx, PublishOptions{})
	}
}

// step is one verb of a release, with the shared tags that it moves.
type step struct {
	verb  string
	flags map[string]string
	moves []string
}

// steps are how every release is published.
func (r *release) steps() []step {
	return []step{
		{"image", map[string]string{"PUSH": "true"}, nil},
		{"manifest", map[string]string{"IMAGE_TAGS": "main"}, []string{r.version, "main"}},
		{"promote", map[string]string{"VERSION": "", "SOURCE_VERSION": r.version, "IMAGE_TAGS": "latest,v"}, []string{"latest", "v"}},
	}
}

// publish runs every step, which has to end well.
func (s *site) publish(r *release) {
	s.t.Helper()
	for _, step := range r.steps() {
		if got := s.verb(step.verb, r, step.flags); got.code != 0 {
			s.t.Fatalf("%s %s: exit code %d\n%s", step.verb, r.version, got.code, got.errOut)
		}
	}
}

// learn fills in the digests of a release from a run without faults.
func learn(t *testing.T, list ...*release) {
	t.Helper()
	up := inProcess(t)
	for _, r := range list {
		r.digests = map[string]string{}
		newSite(t, up.host()+"/clean/"+r.version, r).publish(r)
		for _, img := range faulty.Images {
			d, err := faulty.Digest(t.Context(), up.url, "clean/"+r.version+"/"+img, r.version)
			if err != nil || d == "" {
				t.Fatal(d, err)
			}
			r.digests[img] = d
		}
	}
}

// upstream is a registry behind the door, by its address.
type upstream struct{ url string }

func (u upstream) host() string { return strings.TrimPrefix(u.url, "http://") }

func (u upstream) parsed(t *testing.T) *url.URL {
	t.Helper()
	parsed, err := url.Parse(u.url)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func inProcess(t *testing.T) upstream {
	t.Helper()
	s := httptest.NewServer(ggcrregistry.New(ggcrregistry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	return upstream{s.URL}
}

func buildRegistry(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "archmage-registry")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/archmage-registry").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// ownRegistry is archmage-registry, in a process of its own.
func ownRegistry(t *testing.T, program string) upstream {
	t.Helper()
	cmd := exec.Command(program, "--listen", "127.0.0.1:0", "--dir", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("archmage-registry: %v", err)
		}
	})
	var host string
	if _, err := fmt.Fscanln(out, &host); err != nil {
		t.Fatal(err)
	}
	return upstream{"http://" + host}
}

// shared says what every shared tag below prefix may name: what it was, or what
// it is moved to. was is nil where nothing was published before.
func shared(prefix string, was, is *release, moving, moved []string) faulty.Shared {
	all := faulty.Shared{}
	for _, img := range faulty.Images {
		before := ""
		if was != nil {
			before = was.digests[img]
		}
		for _, tag := range []string{"main", "latest", "v", is.version} {
			old := before
			if tag == is.version {
				old = ""
			}
			ref := prefix + "/" + img + ":" + tag
			switch {
			case slices.Contains(moved, tag):
				all[ref] = []string{is.digests[img]}
			case slices.Contains(moving, tag):
				all[ref] = []string{old, is.digests[img]}
			default:
				all[ref] = []string{old}
			}
		}
	}
	return all
}

// fakeGit is a checkout at one commit, and no other program.
type fakeGit string

func (g fakeGit) Find(name string) (string, error) { return "", fmt.Errorf("%s: none here", name) }

func (g fakeGit) Run(_ context.Context, c run.Cmd) error {
	if c.Name != "git" || len(c.Args) == 0 {
		return &run.ExitError{Name: c.Name, Code: 127}
	}
	answers := map[string]string{"log": string(g) + " 1700000000\n", "describe": "v0.0.1\n", "rev-parse": "none/such\n"}
	answer, ok := answers[c.Args[0]]
	if !ok {
		return &run.ExitError{Name: c.Name, Code: 1}
	}
	_, err := io.WriteString(c.Stdout, answer)
	return err
}

// fakeClock is a clock whose sleepers wake at once, with the time moved on. For
// several of them at once it runs faster than for one, but never backwards.
type fakeClock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *fakeClock { return &fakeClock{at: time.Unix(1_700_000_000, 0)} }

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fakeClock) clock() registry.Clock {
	return registry.Clock{
		Now: c.now,
		Sleep: func(ctx context.Context, d time.Duration) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.at = c.at.Add(d)
			return context.Cause(ctx)
		},
		Jitter: func() float64 { return 0.5 },
	}
}
