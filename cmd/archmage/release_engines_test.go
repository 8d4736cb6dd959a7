//go:build engines

package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// needsRun is an image that an engine builds, with a step that has a mark.
func needsRun(mark string) txtar.File {
	return txtar.File{Name: "dockerfiles/four.Dockerfile", Data: []byte("FROM shell:1\nCOPY data/words /words\nRUN echo " + mark + " > /done\n")}
}

// TestEnginesTheReleaseWorkflow runs the jobs of the release workflow with real
// engines against Debian's docker-registry: an image with RUN has a job per
// platform, and logs in for it.
func TestEnginesTheReleaseWorkflow(t *testing.T) {
	env := releaseEngines(t)
	origin := releaseRepository(t, "testdata/release.txtar", needsRun("done"))
	registry := ownRepository("release")
	h := hostedEngines(t, origin, registry+"/run", env)
	want := singleMachine(t, h, registry+"/single", "v1.0.0", h.images)
	delete(want, "four")
	h.run()
	h.done(want)
	if legs := h.results["legs"].entries; len(legs) != 3 {
		t.Errorf("%d jobs of legs, want one of native legs and two of four", len(legs))
	}
	if n := strings.Count(h.log.String(), "Login Succeeded"); n < 2 {
		t.Errorf("%d logins\n%s", n, &h.log)
	}
	first := indexes(t, h.registry, h.tag, h.images)
	h.results = nil // run again: what an engine built for this commit is kept
	h.run()
	h.done(first)
}

// TestEnginesABuilderPerArchitecture builds an image with RUN on a builder of two
// buildkitd processes, one for each architecture, as BUILDX_BUILDER names it.
func TestEnginesABuilderPerArchitecture(t *testing.T) {
	env := releaseEngines(t)
	second := secondBuildkit(t)
	dir := t.TempDir()
	env = append(env, "BUILDX_CONFIG="+dir, "BUILDX_BUILDER=pair")
	mark := "step-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	h := hostedEngines(t, releaseRepository(t, "testdata/release.txtar", needsRun(mark)), "", env)
	m, err := h.machine("pair", workflowJob{}, scope{})
	if err == nil {
		err = m.checkOut()
	}
	registry := ownRepository("pair")
	if err == nil {
		err = m.bash([]string{"REGISTRY=" + registry, "VERSION=v1.0.0", "WHAT=four", "LOAD=false", "FIRST=" + os.Getenv("BUILDKIT_HOST"), "SECOND=" + second}, "-ec", `
docker buildx create --name pair --driver remote --node amd64 --platform linux/amd64 "$FIRST"
docker buildx create --name pair --append --node arm64 --platform linux/arm64 "$SECOND"
archmage plan
archmage image --push
archmage manifest
archmage audit "$REGISTRY/four:v1.0.0"
`)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, &m.log)
	}
	indexes(t, registry, "v1.0.0", []string{"four"})
	// Two platforms, one step in the cache of each.
	for _, at := range []string{os.Getenv("BUILDKIT_HOST"), second} {
		out, err := exec.Command(filepath.Join(os.Getenv("ENGINES_DIR"), "bin", "buildctl"), "--addr", at, "du", "--verbose").CombinedOutput()
		if n := strings.Count(string(out), mark); err != nil || n != 1 {
			t.Errorf("%s ran %d of the steps of two platforms: %v\n%s", at, n, err, out)
		}
	}
}

func ownRepository(name string) string {
	return os.Getenv("ENGINES_REGISTRY") + "/" + name + "/" + strconv.FormatInt(time.Now().UnixNano(), 36)
}

// releaseEngines is how jobs reach the engines, with a docker config of the
// test's own, since they log in.
func releaseEngines(t *testing.T) []string {
	t.Helper()
	env, err := enginesEnv()
	if err != nil {
		t.Fatal(err)
	}
	hub, err := pushBases(t.Context(), os.Getenv("ENGINES_REGISTRY"))
	if err != nil {
		t.Fatal(err)
	}
	client := t.TempDir()
	if err := os.WriteFile(filepath.Join(client, "config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(os.Getenv("DOCKER_CONFIG"), "cli-plugins"), filepath.Join(client, "cli-plugins")); err != nil {
		t.Fatal(err)
	}
	return append(env, "DOCKER_CONFIG="+client, "IMAGE_MIRRORS=docker.io="+hub)
}

// hostedEngines is the release workflow on machines that have engines.
func hostedEngines(t *testing.T, origin, registry string, env []string) *hosted {
	t.Helper()
	h := hostedRelease(t, origin, "v1.0.0", registry)
	tools, _, _ := strings.Cut(strings.TrimPrefix(h.env[len(h.env)-1], "PATH="), ":")
	if err := os.Remove(filepath.Join(tools, "docker")); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, env...)
	h.images, h.rand = []string{"four", "one", "three", "two"}, rand.New(rand.NewPCG(7, 7))
	return h
}

// secondBuildkit starts another buildkitd, with nothing in its cache.
func secondBuildkit(t *testing.T) (address string) {
	t.Helper()
	engines := os.Getenv("ENGINES_DIR")
	dir, err := os.MkdirTemp(engines, "second-") // not below /tmp, which may be an overlay
	if err != nil {
		t.Fatal(err)
	}
	address = "unix://" + filepath.Join(dir, "sock")
	cmd := exec.Command(filepath.Join(engines, "bin", "buildkitd"), "--config", filepath.Join(engines, "buildkitd.toml"),
		"--addr", address, "--root", filepath.Join(dir, "root"), "--oci-worker=true", "--containerd-worker=false", "--oci-worker-net=host")
	log := &strings.Builder{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
		os.RemoveAll(dir)
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if exec.Command(filepath.Join(engines, "bin", "buildctl"), "--addr", address, "debug", "workers").Run() == nil {
			return address
		}
		if time.Now().After(end) {
			t.Fatalf("buildkitd does not answer:\n%s", log)
		}
	}
}
