package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/adopt"
)

const (
	releaseWorkflow  = "../../.github/workflows/release.yml"
	renderedTemplate = "testdata/workflows"
)

// TestTheReleaseWorkflowIsTheTemplate holds this project's workflow, and what
// other repositories get, to the one template; UPDATE=1 writes them. scripts/check
// lints all of them.
func TestTheReleaseWorkflowIsTheTemplate(t *testing.T) {
	for file, values := range map[string]adopt.Values{
		releaseWorkflow: {Go: true, Own: true, Registry: "ghcr.io/archmage-go"},
		filepath.Join(renderedTemplate, "tools.yml"):   {Go: true, Registry: "registry.example.com/fleet"},
		filepath.Join(renderedTemplate, "program.yml"): {Version: "v1.2.3"},
	} {
		want, err := adopt.Render(adopt.ReleaseWorkflow, values)
		if err != nil {
			t.Fatal(err)
		}
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the template; write it with: UPDATE=1 go test ./cmd/archmage (%v)", file, err)
		}
		if regexp.MustCompile(`(?m)[ \t]+$|\n\n\n|\[\[|\]\]`).Match(want) || !bytes.HasSuffix(want, []byte("\n")) || bytes.HasSuffix(want, []byte("\n\n")) {
			t.Errorf("%s is untidy:\n%s", file, want)
		}
	}
}

var (
	pinned = regexp.MustCompile(`^[\w-]+/[\w/.-]+@[0-9a-f]{40}$`)
	// what a script may not contain: GitHub writes the value into the program.
	interpolated = regexp.MustCompile(`\$\{\{`)
)

// Actions are pinned by commit, scripts hold no text of others, and only what
// publishes may write.
func TestWorkflowsAreGuarded(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	more, err2 := filepath.Glob(filepath.Join(renderedTemplate, "*.yml"))
	if err != nil || err2 != nil || len(files) < 2 || len(more) < 2 {
		t.Fatal(files, more, err, err2)
	}
	for _, file := range append(files, more...) {
		w := readWorkflow(t, file)
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: permissions %v", file, w.Permissions)
		}
		for name, job := range w.Jobs {
			for permission, level := range job.Permissions {
				if level != "read" && (permission != "packages" || !strings.Contains(" legs manifest promote ", " "+name+" ")) {
					t.Errorf("%s: %s may %s %s", file, name, level, permission)
				}
			}
			for _, step := range job.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s: %s is not pinned", file, name, step.Uses)
				}
				if interpolated.MatchString(step.Run) {
					t.Errorf("%s: %s: a script has an expression: %s", file, name, step.Run)
				}
			}
		}
	}
}
