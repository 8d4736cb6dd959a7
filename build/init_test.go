package build

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/adopt"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/files"
)

// The names that a repository's own Mage targets must not have.
func TestMageTargetsAreKnown(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "targets/targets.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
			want = append(want, strings.ToLower(f.Name.Name))
		}
	}
	if slices.Sort(want); !slices.Equal(mageTargets, want) {
		t.Errorf("%q, want %q", mageTargets, want)
	}
}

func TestTheRegistryFollowsFromTheRemote(t *testing.T) {
	for _, tt := range []struct{ source, makefile, registry, want string }{
		{"https://github.com/Org/Repo", "", "", "ghcr.io/org"},
		{"https://gitlab.com/group/Sub/project", "", "", "registry.gitlab.com/group/sub/project"},
		{"https://git.example.com/org/repo", "", "", ""},
		{"https://github.com", "", "", ""},
		{"", "", "", ""},
		{"https://github.com/org/repo", "quay.io/x", "", ""},
		{"https://github.com/org/repo", "", "quay.io/x", ""},
		{"https://github.com/-org-/repo", "", "", ""},
	} {
		a := &adopter{Project: &Project{Settings: &config.Settings{Registry: tt.registry, Commit: config.Commit{Source: tt.source}}}}
		if tt.makefile != "" {
			a.make = adopt.Makefile{Variables: map[string]string{"REGISTRY": tt.makefile}}
		}
		if got := a.proposedRegistry(); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

func TestVersionsThatGoCannotFetchAreLatest(t *testing.T) {
	defer func(v string) { Version = v }(Version)
	const pseudo = "v0.0.0-20261130180721-2c51f9885c8d"
	fetched := pseudo
	if fromCheckout() { // with -buildvcs=true this test is
		fetched = "latest"
	}
	for v, want := range map[string]string{
		"v1.2.3": "v1.2.3", "v1.2.3-rc.1": "v1.2.3-rc.1", pseudo: fetched,
		"v1.2.3-4-gabcdef0": "latest", "v1.2.3-dirty": "latest", "v0.0.0-20261130180721-2c51f9885c8d+dirty": "latest", "devel": "latest", "abcdef0": "latest",
	} {
		if Version = v; ownVersion() != want {
			t.Errorf("%s: %s, want %s", v, ownVersion(), want)
		}
	}
	if got := reference("v0.0.0-20261130180721-2c51f9885c8d"); got != "2c51f9885c8d" || reference("latest") != "main" || reference("v1.2.3") != "v1.2.3" {
		t.Errorf("%s", got)
	}
}

func TestAFileThatIsThereIsNotMade(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a", "b")
	disk := files.Disk{}
	if err := disk.Create(file, []byte("mine")); err != nil {
		t.Fatal(err)
	}
	if err := disk.Create(file, []byte("other")); !os.IsExist(err) {
		t.Errorf("%v", err)
	}
	if err := os.Symlink("gone", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := disk.Create(filepath.Join(dir, "link"), nil); !os.IsExist(err) {
		t.Errorf("a link that leads nowhere: %v", err)
	}
	if got := content(t, filepath.Join(dir, "a")); got != "-rw-r--r-- b: mine\n" {
		t.Errorf("%s", got)
	}
}

// What a step that failed has changed is as it was, and what it made is gone.
func TestAFailedStepIsUndone(t *testing.T) {
	dir := t.TempDir()
	there, gone := filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")
	if err := os.WriteFile(there, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	oldThere, oldGone := readIfThere(there), readIfThere(gone)
	for _, file := range []string{there, gone} {
		if err := os.WriteFile(file, []byte("new"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := &adopter{Project: &Project{}}
	for range 2 {
		if err := errors.Join(a.putBack(there, oldThere), a.putBack(gone, oldGone)); err != nil {
			t.Fatal(err)
		}
	}
	if got := content(t, dir); got != "-rw-r--r-- go.mod: old\n" {
		t.Errorf("%s", got)
	}
}
