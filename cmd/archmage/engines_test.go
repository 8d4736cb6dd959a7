//go:build engines

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestEngines runs testdata/engines/*.txtar: archmage with real engines, a real
// registry and a real dockerd, as scripts/engines starts them. Without these it
// fails: a machine without engines must not look like one with.
//
// Every script has a REGISTRY of its own, and IMAGE_MIRRORS that serve the bases
// golang:1.26 and shell:1 of Docker Hub. PATH has the engines; NO_ENGINES is
// what it is without them. PROXY is the GOPROXY of who runs them.
func TestEngines(t *testing.T) {
	env, err := enginesEnv()
	if err != nil {
		t.Fatal(err)
	}
	hub, err := pushBases(t.Context(), os.Getenv("ENGINES_REGISTRY"))
	if err != nil {
		t.Fatal(err)
	}
	goenv := goEnv(t, "GOCACHE", "GOMODCACHE", "GOROOT")
	proxy := strings.TrimPrefix(goEnv(t, "GOPROXY")[0], "GO")
	outside := t.TempDir()
	run := strconv.FormatInt(time.Now().UnixNano(), 36)
	var ran, skipped atomic.Int64
	t.Cleanup(func() { // after the scripts, which run in parallel
		fmt.Printf("engines: %d scripts, skipped %d\n", ran.Load(), skipped.Load())
	})
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/engines",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			ran.Add(1)
			script := e.T().(testing.TB)
			script.Cleanup(func() {
				if script.Skipped() {
					skipped.Add(1)
				}
			})
			name := filepath.Base(e.WorkDir)
			if err := setup(e, filepath.Join(outside, name), goenv); err != nil {
				return err
			}
			return addEngines(e, append(env, proxy,
				"REGISTRY="+os.Getenv("ENGINES_REGISTRY")+"/"+run+"/"+strings.TrimPrefix(name, "script-"),
				"IMAGE_MIRRORS=docker.io="+hub, "HUB="+hub, "LOAD=false"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"follow":    follow,
			"fixture":   extract,
			"repo":      makeRepository,
			"base":      pushBase,
			"tree":      printTree,
			"config":    printConfig,
			"manifest":  printManifest,
			"index":     printIndex,
			"tags":      printTags,
			"machine":   checkMachine,
			"byhand":    byHand,
			"interrupt": interrupt,
			"nowhere":   nowhere,
			"guard":     guard,
			"refusing":  refusing,
		},
	})
}

// enginesEnv is how to reach what scripts/engines started.
func enginesEnv() ([]string, error) {
	var env []string
	for _, name := range []string{
		"ENGINES_DIR", "ENGINES_REGISTRY", "ENGINES_REGISTRY3", "ENGINES_REGISTRY_TLS", "ENGINES_REGISTRY3_TLS",
		"ENGINES_TLS_HOST", "ENGINES_CA", "ENGINES_LOGIN", "DOCKER_HOST", "DOCKER_CONFIG", "BUILDKIT_HOST", "BUILDX_CONFIG", "BUILDX_BUILDER",
		"CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF", "BUILDAH_ISOLATION",
	} {
		value := os.Getenv(name)
		if value == "" {
			return nil, fmt.Errorf(`no engines, as %s is not set: scripts/engines up, then eval "$(scripts/engines env)"`, name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// addEngines puts the engines on a script's PATH, in a directory where they are
// alone, and gives buildah a store of the script's own: what is left there is
// this script's.
func addEngines(e *testscript.Env, env []string) error {
	dir := filepath.Join(filepath.Dir(e.Getenv("HOME")), "engines")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	for _, name := range []string{"docker", "buildah", "skopeo", "crane", "curl"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, name))
		}
		errs = append(errs, err)
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		e.Setenv(name, value)
	}
	store, err := os.MkdirTemp(filepath.Join(os.Getenv("ENGINES_DIR"), "containers"), "script-")
	if err != nil {
		return err
	}
	e.Defer(func() { os.RemoveAll(store) })
	conf := filepath.Join(store, "storage.conf")
	errs = append(errs, os.WriteFile(conf, fmt.Appendf(nil, "[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrunroot = %q\n", store+"/graph", store+"/run"), 0o644))
	e.Setenv("CONTAINERS_STORAGE_CONF", conf)
	e.Setenv("NO_ENGINES", e.Getenv("PATH"))
	e.Setenv("PATH", e.Getenv("PATH")+string(os.PathListSeparator)+dir)
	return errors.Join(errs...)
}
