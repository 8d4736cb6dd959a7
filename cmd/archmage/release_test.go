package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/archmage-go/archmage/build/registry/faulty"
)

// TestTheReleaseWorkflow runs the jobs of .github/workflows/release.yml, on a
// repository of three images, against a real registry. What comes out has to be
// what one machine makes, digest for digest: also with a job per leg, in random
// order, where one of them is killed just before its tag is written, and run again.
func TestTheReleaseWorkflow(t *testing.T) {
	if testing.Short() {
		t.Skip("runs whole releases")
	}
	origin := releaseRepository(t, "testdata/release.txtar")
	up := store(t, buildStore(t))
	want := singleMachine(t, hostedRelease(t, origin, "v1.0.0", ""), up.Host+"/single", "v1.0.0", releaseImages)
	for seed, explode := range []bool{false, true} {
		t.Run(fmt.Sprintf("a job per leg %v", explode), func(t *testing.T) {
			gate := newGate(t, up, "/two/manifests/v1.0.0-arm64")
			h := hostedRelease(t, origin, "v1.0.0", fmt.Sprintf("%s/run%d", gate.host, seed))
			h.rand, h.explode = rand.New(rand.NewPCG(uint64(seed), 1)), explode
			h.context = gate.of("two linux/arm64", "native one three two")
			h.run()
			if got := h.states(); got != "build skipped, legs failure, manifest skipped, plan success, promote skipped" {
				t.Fatalf("with a leg killed: %s\n%s", got, &h.log)
			}
			for _, image := range releaseImages {
				if d, err := faulty.Digest(t.Context(), up.String(), strings.TrimPrefix(h.registry, gate.host+"/")+"/"+image, "v1.0.0"); err == nil && d != "" {
					t.Errorf("%s has a shared tag before all of its legs: %s", image, d)
				}
			}
			h.run()
			h.done(want)
			ran := 0
			for _, e := range h.results["legs"].entries {
				ran += e.ran
			}
			if legs := len(h.results["legs"].entries); ran != legs+1 || explode != (legs == 6) {
				t.Errorf("%d jobs of legs ran %d times", legs, ran)
			}
			if explode {
				return
			}
			// All of it once more, as "Re-run all jobs" does.
			h.results = nil
			h.run()
			h.done(want)
			// A patch for an older version is published, and latest stays.
			older := hostedRelease(t, origin, "v0.9.1", h.registry)
			older.rand = h.rand
			older.run()
			older.published()
			h.done(want)
		})
	}
}

// A pull request builds everything, with no token, and writes nowhere.
func TestAPullRequestPublishesNothing(t *testing.T) {
	origin := releaseRepository(t, "testdata/release.txtar")
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		http.NotFound(w, r)
	}))
	defer s.Close()
	h := hostedRelease(t, origin, "", strings.TrimPrefix(s.URL, "http://")+"/x")
	h.event, h.rand = "pull_request", rand.New(rand.NewPCG(1, 1))
	h.run()
	if got := h.states(); got != "build success, legs skipped, manifest skipped, plan success, promote skipped" {
		t.Fatalf("%s\n%s", got, &h.log)
	}
	for _, name := range []string{"plan", "build"} {
		job := h.workflow.Jobs[name]
		if text := fmt.Sprint(job.Env, job.Steps); len(job.Permissions) > 0 || strings.Contains(text, "secrets") || strings.Contains(text, "token") {
			t.Errorf("%s may more than read: %v %s", name, job.Permissions, text)
		}
	}
	if len(asked) > 0 {
		t.Errorf("the registry was asked: %q", asked)
	}
	if strings.Contains(h.log.String(), "logged in") {
		t.Errorf("somebody logs in:\n%s", &h.log)
	}
}

var releaseImages = []string{"one", "three", "two"}

// releaseRepository is a repository with tags, as others clone it.
func releaseRepository(t *testing.T, file string, more ...txtar.File) string {
	t.Helper()
	dir := t.TempDir()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	archive.Files = append(archive.Files, more...)
	if err := txtar.Write(archive, dir); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{
		"git init -q -b main && git add -A && git commit -qm older && git tag v0.9.1",
		"echo newer >newer && git add newer && git commit -qm newer && git tag v1.0.0",
	} {
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		must(t, cmd)
	}
	return dir
}

// singleMachine publishes a version from one clone, and returns the digest of
// each index.
func singleMachine(t *testing.T, h *hosted, registry, version string, images []string) map[string]string {
	t.Helper()
	m, err := h.machine("single", workflowJob{}, scope{})
	if err == nil {
		err = m.checkOut()
	}
	if err == nil {
		err = m.bash([]string{"REGISTRY=" + registry, "VERSION=" + version, "LOAD=false"}, "-ec", "archmage image --push && archmage manifest")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, &m.log)
	}
	return indexes(t, registry, version, images)
}

func indexes(t *testing.T, registry, tag string, images []string) map[string]string {
	t.Helper()
	host, path, _ := strings.Cut(registry, "/")
	digests := map[string]string{}
	for _, image := range images {
		digest, err := faulty.Digest(t.Context(), "http://"+host, path+"/"+image, tag)
		if err != nil || digest == "" {
			t.Fatalf("%s %s: %q, %v", image, tag, digest, err)
		}
		digests[image] = digest
	}
	return digests
}

// hostedRelease is the release workflow of a tag, ready to run.
func hostedRelease(t *testing.T, origin, tag, registry string) *hosted {
	t.Helper()
	return &hosted{
		t: t, workflow: readWorkflow(t, releaseWorkflow), origin: origin, event: "push", tag: tag, registry: registry, images: releaseImages,
		env: append(goEnv(t, "GOCACHE", "GOMODCACHE", "GOROOT"), "PATH="+standIns(t)+":"+os.Getenv("PATH")),
	}
}

// standIns is a directory for PATH in which `go tool archmage` is this test's own
// program, and docker nothing but a login.
func standIns(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	goCommand, err := exec.LookPath("go")
	own, err2 := exec.LookPath("archmage")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if raced {
		if own, err = buildPlain(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(own, filepath.Join(dir, "archmage")); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"go":     "if [ \"$1 $2\" = 'tool archmage' ]; then shift 2; exec archmage \"$@\"; fi\nexec " + goCommand + " \"$@\"\n",
		"docker": "read -r password && [ \"$1 $3 $4 $5\" = 'login --username somebody --password-stdin' ] && [ \"$password\" = the-token ] && echo logged in to \"$2\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// states is what became of each job.
func (h *hosted) states() string {
	var list []string
	for name, r := range h.results {
		list = append(list, name+" "+r.state)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// done holds that the release is complete: every index is the one wanted, latest
// too, and the references for signing name them. Of an image that nothing is
// wanted of, which an engine builds, the index has to be there and whole.
func (h *hosted) done(want map[string]string) {
	h.t.Helper()
	h.published()
	for image, digest := range indexes(h.t, h.registry, h.tag, h.images) {
		if want[image] != "" && digest != want[image] {
			h.t.Errorf("%s is %s, and %s where one machine makes it", image, digest, want[image])
		}
		if latest := indexes(h.t, h.registry, "latest", h.images)[image]; latest != digest {
			h.t.Errorf("latest of %s is %s, not %s", image, latest, digest)
		}
	}
}

// published holds that the version is there, and named for signing.
func (h *hosted) published() {
	h.t.Helper()
	if got := h.states(); got != "build skipped, legs success, manifest success, plan success, promote success" {
		h.t.Fatalf("%s: %s\n%s", h.tag, got, &h.log)
	}
	got := indexes(h.t, h.registry, h.tag, h.images)
	var references []string
	for _, image := range h.images {
		references = append(references, h.registry+"/"+image+":"+h.tag+"@"+got[image])
	}
	if text := h.results["manifest"].outputs["references"]; text != strings.Join(references, "\n") {
		h.t.Errorf("references %q, want %q", text, references)
	}
}

// gate stands before a registry and holds the first write of one path, which
// kills the job that sent it.
type gate struct {
	t    *testing.T
	host string
	path string
	once sync.Once
	kill context.CancelFunc
	dead context.Context
}

func newGate(t *testing.T, up *url.URL, path string) *gate {
	g := &gate{t: t, path: path}
	g.dead, g.kill = context.WithCancel(t.Context())
	forward := httputil.NewSingleHostReverseProxy(up)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, g.path) {
			first := false
			g.once.Do(func() { first = true })
			if first {
				_, _ = io.Copy(io.Discard, r.Body) // a server sees that its client is gone once it has read all
				g.kill()
				<-r.Context().Done()
				return
			}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	g.host = strings.TrimPrefix(s.URL, "http://")
	return g
}

// of gives jobs of these names, the first time, the context that ends there.
func (g *gate) of(names ...string) func(string) context.Context {
	var mu sync.Mutex
	met := map[string]bool{}
	return func(job string) context.Context {
		mu.Lock()
		defer mu.Unlock()
		name := strings.TrimPrefix(job, "legs ")
		if slices.Contains(names, name) && !met[name] {
			met[name] = true
			return g.dead
		}
		return g.t.Context()
	}
}
