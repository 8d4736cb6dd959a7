package plan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
)

var two = []platform.Platform{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}}

// tree writes files, given as "path" or "path=content", into a new directory.
func tree(t *testing.T, files ...string) Layout {
	t.Helper()
	root := filepath.Join(t.TempDir(), "Repo")
	for _, f := range files {
		name, content, _ := strings.Cut(f, "=")
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return Layout{Root: root, FS: os.DirFS(root), Platforms: two}
}

func TestImagesAreFoundWhereProjectsKeepThem(t *testing.T) {
	const main = "=package main"
	tests := []struct {
		name  string
		files []string
		want  string // name:dockerfile, sorted
	}{
		{"nothing", nil, ""},
		{"dockerfiles, three spellings", []string{
			"dockerfiles/a.Dockerfile", "dockerfiles/b/Dockerfile", "dockerfiles/Dockerfile.c", "dockerfiles/d.Containerfile", "dockerfiles/Containerfile.e",
		}, "a:dockerfiles/a.Dockerfile b:dockerfiles/b/Dockerfile c:dockerfiles/Dockerfile.c d:dockerfiles/d.Containerfile e:dockerfiles/Containerfile.e"},
		{"the first found wins", []string{
			"build/a/Dockerfile", "cmd/a/Dockerfile", "dockerfiles/Dockerfile.a", "dockerfiles/a/Dockerfile", "dockerfiles/a.Dockerfile",
		}, "a:dockerfiles/a.Dockerfile"},
		{"cmd before build", []string{"build/a/Dockerfile", "cmd/a/Dockerfile"}, "a:cmd/a/Dockerfile"},
		{"Dockerfile before Containerfile", []string{"cmd/a/Containerfile", "cmd/a/Dockerfile"}, "a:cmd/a/Dockerfile"},
		{"nested commands", []string{"cmd/group/a/Dockerfile"}, "a:cmd/group/a/Dockerfile"},
		{"upper case becomes lower", []string{"cmd/App/Dockerfile"}, "app:cmd/App/Dockerfile"},
		{"templates, ignore files and documents are none", []string{
			"dockerfiles/Dockerfile.in", "dockerfiles/Dockerfile.tmpl", "dockerfiles/a.Dockerfile.dockerignore", "dockerfiles/Dockerfile.dockerignore", "dockerfiles/README.md",
		}, ""},
		{"what the go command passes over", []string{"cmd/_a/Dockerfile", "cmd/.b/Dockerfile", "cmd/testdata/c/Dockerfile"}, ""},
		{"devcontainers", []string{".devcontainer/Dockerfile"}, ""},
		{"a directory named Dockerfile", []string{"cmd/a/Dockerfile/x"}, ""},
		{"root, one command", []string{"Dockerfile", "go.mod=module example.com/x/tool/v2", "cmd/app/main.go" + main}, "app:Dockerfile"},
		{"root, main in cmd", []string{"Dockerfile", "go.mod=module example.com/x/tool/v2", "cmd/main.go" + main}, "tool:Dockerfile"},
		{"root, main in root", []string{"Containerfile", "go.mod=module example.com/x/tool", "main.go" + main}, "tool:Containerfile"},
		{"root, several commands", []string{"Dockerfile", "go.mod=module x", "cmd/a/m.go" + main, "cmd/b/m.go" + main}, ""},
		{"root, one of two is for another system", []string{"Dockerfile", "go.mod=module x", "cmd/a/m.go" + main, "cmd/b/m_windows.go" + main}, "a:Dockerfile"},
		{"root, no Go", []string{"Dockerfile"}, "repo:Dockerfile"},
		{"root, a program without go.mod", []string{"Dockerfile", "main.go" + main}, "repo:Dockerfile"},
		{"root, a program in cmd without go.mod", []string{"Dockerfile", "cmd/main.go" + main}, "repo:Dockerfile"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			images, _, err := Images(tree(t, tt.files...))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, i := range images {
				got = append(got, i.Name+":"+i.Dockerfile)
				if !slices.Equal(i.Platforms, two) {
					t.Errorf("%s: platforms %v", i.Name, i.Platforms)
				}
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
}

func TestImageDirectoriesReplaceDiscovery(t *testing.T) {
	l := tree(t, "cmd/a/Dockerfile", "cmd/b/Dockerfile", "tools/Agent/Containerfile", "docs/readme")
	l.Dirs = []string{"./cmd/a/", "tools/Agent"}
	images, _, err := Images(l)
	if err != nil || len(images) != 2 || images[0].Name != "a" || images[1].Name != "agent" || images[1].Dockerfile != "tools/Agent/Containerfile" {
		t.Errorf("got %v, %v", images, err)
	}
	for _, bad := range [][]string{{"docs"}, {"nosuch"}, {"../x"}, {"."}, {"/etc"}} {
		l.Dirs = bad
		_, _, err := Images(l)
		var usage *UsageError
		if !errors.As(err, &usage) {
			t.Errorf("IMAGE_DIRS=%s: %v", bad, err)
		}
	}
}

func TestDeclaredImagesCompleteDiscovery(t *testing.T) {
	l := tree(t, "cmd/a/Dockerfile", "files/x", "files/y")
	l.Declared = []Image{
		{Name: "a", Target: "debug", Platforms: two[1:]},
		{Name: "b", Dockerfile: "files/x"},
	}
	images, _, err := Images(l)
	if err != nil || len(images) != 2 {
		t.Fatal(images, err)
	}
	if a := images[0]; a.Dockerfile != "cmd/a/Dockerfile" || a.Target != "debug" || !slices.Equal(a.Platforms, two[1:]) {
		t.Errorf("a: %+v", a)
	}
	if b := images[1]; b.Dockerfile != "files/x" || !slices.Equal(b.Platforms, two) {
		t.Errorf("b: %+v", b)
	}
	l.Declared = []Image{{Name: "c"}}
	if _, _, err = Images(l); err == nil || !strings.Contains(err.Error(), "image c: no Dockerfile") {
		t.Errorf("got %v", err)
	}
}

func TestAnImageWithoutPlatformsIsRefusedWhereItIsSelected(t *testing.T) {
	l := tree(t, "cmd/a/Dockerfile", "cmd/b/Dockerfile")
	l.Declared = []Image{{Name: "a", Platforms: []platform.Platform{{OS: "linux", Arch: "s390x"}}}}
	images, _, err := Images(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckPlatforms(images); err == nil || !strings.Contains(err.Error(), "image a: none of its platforms") {
		t.Errorf("both: %v", err)
	}
	selected, _ := SelectImages(images, []string{"b"})
	if err := CheckPlatforms(selected); err != nil {
		t.Errorf("b alone: %v", err)
	}
}

func TestUnreadableDirectoriesAreNoImages(t *testing.T) {
	l := tree(t, "cmd/a/Dockerfile")
	l.FS = brokenFS{l.FS}
	images, _, err := Images(l)
	if err != nil || len(images) != 1 {
		t.Errorf("got %v, %v", images, err)
	}
}

// brokenFS fails for one directory.
type brokenFS struct{ fs.FS }

func (b brokenFS) Open(name string) (fs.File, error) {
	if name == "build" {
		return nil, fs.ErrPermission
	}
	return b.FS.Open(name)
}
