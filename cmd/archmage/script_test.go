package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes archmage, run by the scripts, the real main in a process of
// its own. The others are for what happens to that process, see faults_test.go.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"archmage": main, "archmage-verbs": verbsMain, "archmage-timed": timedMain, "archmage-echo": echoMain})
}

// TestScripts runs testdata/script/<verb>_<case>.txtar: what a user types and
// what it answers. UPDATE=1 rewrites the expected files that `cmp` compares.
func TestScripts(t *testing.T) {
	goenv := goEnv(t, "GOCACHE", "GOMODCACHE", "GOROOT")
	outside := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			return setup(e, filepath.Join(outside, filepath.Base(e.WorkDir)), goenv)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"follow":   follow,
			"fixture":  extract,
			"repo":     makeRepository,
			"registry": startRegistry,
			"base":     pushBase,
			"tree":     printTree,
			"mtimes":   printTimes,
			"config":   printConfig,
			"manifest": printManifest,
			"index":    printIndex,
			"tags":     printTags,
			"machine":  checkMachine,
			"readme":   readmeBlocks,
			"sbom":     printSBOMs,
			"counting": startCounting,
		},
	})
}

// goEnv asks the go command where its caches are: HOME is empty in scripts, and
// a cold cache per script would compile the standard library each time.
func goEnv(t *testing.T, names ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	values := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	var env []string
	for i, name := range names {
		env = append(env, name+"="+values[i])
	}
	return env
}

// setup gives each script an empty HOME and TMPDIR and none of the caller's
// settings. Both lie outside of the script's directory, which most scripts use
// as the repository.
func setup(e *testscript.Env, outside string, goenv []string) error {
	home, tmp, bin := filepath.Join(outside, "home"), filepath.Join(outside, "tmp"), filepath.Join(outside, "bin")
	checkout, err := filepath.Abs("../..")
	if err := errors.Join(err, os.MkdirAll(home, 0o755), os.MkdirAll(tmp, 0o755), linkTools(bin), os.RemoveAll(filepath.Join(e.WorkDir, ".tmp"))); err != nil {
		return err
	}
	own, _, _ := strings.Cut(e.Getenv("PATH"), string(os.PathListSeparator)) // where archmage is
	for _, kv := range append(goenv,
		"PATH="+own+string(os.PathListSeparator)+bin, "HOME="+home, "TMPDIR="+tmp, "USER=nobody", "CHECKOUT="+checkout, "ARCHMAGE="+own, "HOSTARCH="+runtime.GOARCH,
		"GOTOOLCHAIN=local", "GOFLAGS=", "GOPROXY=off", "GOTELEMETRY=off", "NO_COLOR=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	) {
		name, value, _ := strings.Cut(kv, "=")
		e.Setenv(name, value)
	}
	return nil
}

// tools is all that scripts can run: no docker, podman or buildah, whatever this
// machine has.
var tools = []string{"awk", "bash", "cat", "chmod", "cksum", "cp", "cut", "find", "git", "go", "ln", "make", "mkdir", "rm", "sed", "sh", "sha256sum", "sort", "touch"}

// linkTools makes a directory for PATH. A tool that this machine lacks is
// missed by the scripts that use it.
func linkTools(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range tools {
		if path, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
