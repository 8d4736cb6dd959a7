package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// conformance is what the suite of the distribution spec is asked to test:
// everything of version 1.1, what that leaves to choice where the registry has
// it, and not what the command's help says it has not.
func conformance(host, results string) []string {
	return []string{
		"OCI_REGISTRY=" + host, "OCI_TLS=disabled", "OCI_RESULTS_DIR=" + results, "OCI_VERSION=1.1", "OCI_LOG=error",
		"OCI_API_BLOBS_UPLOAD_CANCEL=true", "OCI_API_BLOBS_DIGEST_HEADER=true", "OCI_API_MANIFESTS_DIGEST_HEADER=true",
		"OCI_API_BLOBS_DELETE=false", "OCI_DATA_SHA512=false",
	}
}

// TestConformance runs the distribution spec's own suite, which is built from
// tools/conformance.mod. testdata/conformance.yaml is what it has to find: the
// suite passes as well where it skips, so a feature that got lost would not show.
func TestConformance(t *testing.T) {
	dir := t.TempDir()
	suite := filepath.Join(dir, "conformance")
	build := exec.CommandContext(t.Context(), "go", "build", "-modfile=../../tools/conformance.mod", "-mod=readonly",
		"-o", suite, "github.com/opencontainers/distribution-spec/conformance")
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the suite: %v\n%s", err, out)
	}
	host, _ := start(t, filepath.Join(dir, "images"))
	cmd := exec.CommandContext(t.Context(), suite)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), conformance(host, dir)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		// Those that passed make most of it.
		t.Errorf("%v\n%s", err, regexp.MustCompile(`(?m)^ .*: (Pass|Disabled)\n`).ReplaceAll(out, nil))
	}
	results, err := os.ReadFile(filepath.Join(dir, "results.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, got, ok := bytes.Cut(results, []byte("\napis:\n"))
	if !ok {
		t.Fatalf("results:\n%s", results)
	}
	got = append([]byte("apis:\n"), got...)
	if bad := regexp.MustCompile(`(?m)^  .*: (FAIL|Error|Skip|Unknown)$`).FindAll(got, -1); bad != nil {
		t.Errorf("not conformant:\n%s", bytes.Join(bad, []byte("\n")))
	}
	golden(t, "testdata/conformance.yaml", got)
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date:\n%s", file, got)
	}
}
