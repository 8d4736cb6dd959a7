package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFleetsAreGo holds that each kind of fleet is written whole, and that its
// programs parse.
func TestFleetsAreGo(t *testing.T) {
	for _, imports := range []string{"k8s", "http", "none"} {
		dir := filepath.Join(t.TempDir(), "fleet")
		if err := fleetVerb([]string{dir, "--commands", "2", "--platforms", "3", "--imports", imports}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"cmd/service-001/main.go", "cmd/service-002/main.go"} {
			if _, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0); err != nil {
				t.Error(err)
			}
		}
		for name, want := range map[string]string{
			"cmd/service-002/Dockerfile": "COPY bin/service-002-linux-${TARGETARCH}",
			"Makefile":                   "PLATFORMS ?= linux/amd64 linux/arm64 linux/arm/v7\n",
			".goreleaser.yaml":           "targets: [linux_amd64, linux_arm64, linux_arm_7]",
			".ko.yaml":                   "defaultBaseImage: scratch\n",
		} {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s of %s lacks %q: %v", name, imports, want, err)
			}
		}
		if err := fleetVerb([]string{dir}); err == nil {
			t.Errorf("a second fleet was written over %s", imports)
		}
	}
}

func TestFleetRefusesWrongSizes(t *testing.T) {
	for _, args := range [][]string{{"--commands", "0"}, {"--platforms", "9"}, {"more"}, {"--imports", "k9s"}} {
		if err := fleetVerb(append([]string{t.TempDir()}, args...)); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}
