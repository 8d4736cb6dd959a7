package adopt

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestDockerfilesAreFoundAnywhere(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{
		"Dockerfile", "Dockerfile.worker", "api.Dockerfile", "Dockerfile.tmpl", "Dockerfile.dockerignore", "MyDockerfile", "Dockerfiles",
		"services/web/Containerfile", "services/web/Dockerfile.in", "test/e2e/Dockerfile", "docs/Dockerfile",
		".devcontainer/Dockerfile", "node_modules/x/Dockerfile", "vendor/y/Dockerfile", "a/testdata/Dockerfile",
	} {
		fsys[name] = &fstest.MapFile{}
	}
	files, passed, err := Dockerfiles(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Dockerfile", "Dockerfile.worker", "api.Dockerfile", "services/web/Containerfile"}; !slices.Equal(files, want) {
		t.Errorf("%q, want %q", files, want)
	}
	if want := []string{"docs/Dockerfile", "test/e2e/Dockerfile"}; !slices.Equal(passed, want) {
		t.Errorf("passed %q, want %q", passed, want)
	}
}

func TestImagesAreNamedAfterTheirFile(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"Dockerfile", "Repo"},
		{"Dockerfile.worker", "worker"},
		{"api.Dockerfile", "api"},
		{"services/web/Dockerfile", "web"},
		{"services/web/Dockerfile.debug", "debug"},
		{"services/taken/Dockerfile", "services-taken"},
		{"a/b/Dockerfile.taken", "a-b-taken"},
	} {
		legal := func(s string) string { return s }
		if got := Name(tt.file, "Repo", legal, []string{"taken"}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.file, got, tt.want)
		}
	}
	if got := Name("Dockerfile", "Repo", strings.ToLower, nil); got != "repo" {
		t.Errorf("%q", got)
	}
}
