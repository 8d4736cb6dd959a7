package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// buildORAS compiles oras, which tools/oras.mod pins, and returns where it is.
func buildORAS(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "oras")
	build := exec.CommandContext(t.Context(), "go", "build", "-modfile=../../tools/oras.mod", "-mod=readonly", "-o", program, "oras.land/oras/cmd/oras")
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build oras: %v\n%s", err, out)
	}
	return program
}

// addORAS puts oras on a script's PATH.
func addORAS(e *testscript.Env, program string) error {
	dir := filepath.Join(filepath.Dir(e.Getenv("HOME")), "oras")
	e.Setenv("PATH", e.Getenv("PATH")+string(os.PathListSeparator)+dir)
	return errors.Join(os.MkdirAll(dir, 0o755), os.Symlink(program, filepath.Join(dir, "oras")))
}

// TestORAS runs testdata/oras/*.txtar: what oras, which shares no code with
// archmage, finds in image layouts and in archmage-registry.
func TestORAS(t *testing.T) {
	program := buildORAS(t)
	goenv := goEnv(t, "GOCACHE", "GOMODCACHE", "GOROOT")
	at := store(t, buildStore(t)).Host
	outside := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/oras",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			name := filepath.Base(e.WorkDir)
			e.Setenv("REGISTRY", at+"/"+name)
			return errors.Join(setup(e, filepath.Join(outside, name), goenv), addORAS(e, program))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"repo": makeRepository, "told": writeBlocks},
	})
}

// writeBlocks writes the indented blocks of a document to files named after what
// follows, with WORD in place of the registry that the document names, and has
// oras speak plain HTTP to it. usage: told DOCUMENT WORD FILE…
func writeBlocks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: told DOCUMENT WORD FILE…")
	}
	blocks := indented(ts.ReadFile(filepath.Join(ts.Getenv("CHECKOUT"), "docs", args[0])))
	if len(blocks) != len(args)-2 {
		ts.Fatalf("%s has %d blocks", args[0], len(blocks))
	}
	for i, file := range args[2:] {
		text := strings.ReplaceAll(blocks[i], "ghcr.io/acme", args[1])
		if !strings.Contains(text, "--oci-layout") {
			text = strings.NewReplacer("oras discover", "oras discover --plain-http", "oras pull", "oras pull --plain-http").Replace(text)
		}
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte("set -eu\n"+text), 0o644))
	}
}
