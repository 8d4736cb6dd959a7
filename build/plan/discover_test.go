package plan

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

const mainFile = "package main\n\nfunc main() {}\n"

// repoOf writes files; a value without "package" or "module" stands for mainFile.
func repoOf(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		if text == "main" {
			text = mainFile
		}
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func gomod(path string) string { return "module " + path + "\n\ngo 1.21\n" }

// discover runs the real go command, away from the caller's settings.
func discover(t *testing.T, root string, env ...string) (Discovered, error) {
	t.Helper()
	platforms, _, err := platform.ParseList("linux/amd64 linux/arm64 linux/arm/v7")
	if err != nil {
		t.Fatal(err)
	}
	return Commands(t.Context(), run.OS{}, root, platforms, append([]string{"GOFLAGS=", "GOTOOLCHAIN=local", "GOPROXY=off", "GO111MODULE="}, env...)...)
}

func lines(d Discovered) (commands, skipped []string) {
	for _, c := range d.Commands {
		text := c.Name + " " + c.Dir + " " + c.Module + " " + c.ImportPath
		if len(c.Platforms) != 3 {
			for _, p := range c.Platforms {
				text += " " + p.String()
			}
		}
		commands = append(commands, text)
	}
	for _, s := range d.Skipped {
		skipped = append(skipped, s.Dir+": "+s.Reason)
	}
	return commands, skipped
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		name              string
		files             map[string]string
		commands, skipped []string
	}{
		{"no go.mod", map[string]string{"cmd/a/main.go": "main", "main.go": "main"}, nil, nil},
		{"empty", nil, nil, nil},
		{
			"cmd, nested and library",
			map[string]string{
				"go.mod": gomod("example.com/m/v2"), "cmd/b/main.go": "main", "cmd/a/main.go": "main", "cmd/sub/deep/main.go": "main",
				"cmd/a/internal/lib/lib.go": "package lib\n", "cmd/sub/notes.txt": "x", "internal/x/x.go": "package x\n", "tools/gen/main.go": "main",
			},
			[]string{"a cmd/a . example.com/m/v2/cmd/a", "b cmd/b . example.com/m/v2/cmd/b", "deep cmd/sub/deep . example.com/m/v2/cmd/sub/deep"},
			[]string{"cmd/a/internal/lib: package lib"},
		},
		{
			"build constraints per platform",
			map[string]string{
				"go.mod": gomod("example.com/m"), "cmd/all/main.go": "main",
				"cmd/some/main_amd64.go": "main", "cmd/some/main_arm.go": "main",
				"cmd/win/main_windows.go": "main", "cmd/tag/a.go": "//go:build never\n\n" + mainFile,
				"cmd/cgo/main.go":     "package main\n\nimport \"C\"\n\nfunc main() {}\n",
				"cmd/tests/a_test.go": "package main\n",
				"cmd/v7/main.go":      "//go:build arm.7\n\n" + mainFile,
			},
			[]string{"all cmd/all . example.com/m/cmd/all", "some cmd/some . example.com/m/cmd/some linux/amd64 linux/arm/v7", "v7 cmd/v7 . example.com/m/cmd/v7 linux/arm/v7"},
			[]string{
				"cmd/cgo: excluded by build constraints: main.go", "cmd/tag: excluded by build constraints: a.go",
				"cmd/tests: only tests", "cmd/win: excluded by build constraints: main_windows.go",
			},
		},
		{
			"names go passes over",
			map[string]string{
				"go.mod": gomod("example.com/m"), "cmd/a/main.go": "main", "cmd/_old/x/main.go": "main", "cmd/.hidden/main.go": "main",
				"cmd/a/testdata/src/main.go": "main", "cmd/_docs/readme.md": "x", "testdata/cmd/t/main.go": "main", "testdata/go.mod": gomod("example.com/t"),
				"vendor/example.com/v/cmd/v/main.go": "main", "cmd/a/_a.go": "package other\n", "_x/go.mod": gomod("example.com/x"), "_x/cmd/x/main.go": "main",
				"vendor/modules.txt": "",
			},
			[]string{"a cmd/a . example.com/m/cmd/a"},
			[]string{"cmd/.hidden: the go command passes over this name", "cmd/_old: the go command passes over this name", "cmd/a/testdata: the go command passes over this name"},
		},
		{
			"nested modules",
			map[string]string{
				"go.mod": gomod("example.com/m"), "cmd/a/main.go": "main",
				"cmd/x/go.mod": gomod("example.com/other/name"), "cmd/x/main.go": "main", "cmd/x/lib/lib.go": "package lib\n", "cmd/x/tool/main.go": "main",
				"services/s/go.mod": gomod("example.com/s"), "services/s/cmd/server/main.go": "main", "services/s/main.go": "main",
				"tools/go.mod": gomod("example.com/tools"), "tools/main.go": "main",
			},
			[]string{
				"a cmd/a . example.com/m/cmd/a", "server services/s/cmd/server services/s example.com/s/cmd/server",
				"tool cmd/x/tool cmd/x example.com/other/name/tool", "x cmd/x cmd/x example.com/other/name",
			},
			[]string{"cmd/x/lib: package lib"},
		},
		{
			"only nested modules",
			map[string]string{"services/s/go.mod": gomod("example.com/s"), "services/s/cmd/server/main.go": "main", "cmd/lost/main.go": "main"},
			[]string{"server services/s/cmd/server services/s example.com/s/cmd/server"},
			nil,
		},
		{
			"main in cmd",
			map[string]string{"go.mod": gomod("example.com/prog/v3"), "cmd/main.go": "main"},
			[]string{"prog cmd . example.com/prog/v3/cmd"},
			nil,
		},
		{
			"main in the root, no cmd",
			map[string]string{"go.mod": gomod("example.com/prog/v3"), "main.go": "main", "internal/x/x.go": "package x\n"},
			[]string{"prog . . example.com/prog/v3"},
			nil,
		},
		{
			"main in the root, cmd a library",
			map[string]string{"go.mod": gomod("example.com/prog"), "main.go": "main", "cmd/root.go": "package cmd\n"},
			[]string{"prog . . example.com/prog"},
			[]string{"cmd: package cmd"},
		},
		{
			"main in the root beside programs",
			map[string]string{"go.mod": gomod("example.com/prog"), "main.go": "main", "cmd/a/main.go": "main"},
			[]string{"a cmd/a . example.com/prog/cmd/a"},
			[]string{".: the programs of this repository are in cmd"},
		},
		{
			"library in the root", map[string]string{"go.mod": gomod("example.com/lib"), "lib.go": "package lib\n"}, nil, []string{".: package lib"},
		},
		{
			"names that are not legal",
			map[string]string{"go.mod": gomod("example.com/m"), "cmd/MyApp/main.go": "main", "cmd/my_app-2.x/main.go": "main", "cmd/a..b/main.go": "main"},
			[]string{"my_app-2.x cmd/my_app-2.x . example.com/m/cmd/my_app-2.x"},
			[]string{
				`cmd/MyApp: "MyApp" cannot name an image: use lower-case letters and digits, with single dots, dashes or underscores between`,
				`cmd/a..b: "a..b" cannot name an image: use lower-case letters and digits, with single dots, dashes or underscores between`,
			},
		},
		{
			"broken code is a command all the same",
			map[string]string{
				"go.mod": gomod("example.com/m"), "cmd/syntax/main.go": "package main\n\nfunc main() {\n", "cmd/two/a.go": "main", "cmd/two/b.go": "package two\n",
				"cmd/import/main.go": "package main\n\nimport _ \"example.com/none\"\n\nfunc main() {}\n",
			},
			[]string{"import cmd/import . example.com/m/cmd/import", "syntax cmd/syntax . example.com/m/cmd/syntax", "two cmd/two . example.com/m/cmd/two"},
			nil,
		},
		{
			"workspace",
			map[string]string{
				"go.work": "go 1.21\n\nuse (\n\t.\n\t./cmd/in\n)\n", "go.mod": gomod("example.com/m"), "cmd/a/main.go": "main",
				"cmd/in/go.mod": gomod("example.com/in"), "cmd/in/main.go": "main",
			},
			[]string{"a cmd/a . example.com/m/cmd/a", "in cmd/in cmd/in example.com/in"},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := discover(t, repoOf(t, c.files), away(c.files)...)
			if err != nil {
				t.Fatal(err)
			}
			commands, skipped := lines(d)
			guess(t, c.files, commands)
			if !slices.Equal(commands, c.commands) || !slices.Equal(skipped, c.skipped) {
				t.Errorf("commands\n  %s\nwant\n  %s\nskipped\n  %s\nwant\n  %s", strings.Join(commands, "\n  "), strings.Join(c.commands, "\n  "), strings.Join(skipped, "\n  "), strings.Join(c.skipped, "\n  "))
			}
		})
	}
}

// guess compares what package clauses say, which is the same but for build tags
// that are the go command's own.
func guess(t *testing.T, files map[string]string, want []string) {
	t.Helper()
	platforms, _, _ := platform.ParseList("linux/amd64 linux/arm64 linux/arm/v7")
	d, err := Guess(repoOf(t, files), platforms)
	got, _ := lines(d)
	want = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return strings.HasPrefix(s, "v7 ") })
	if err != nil || !slices.Equal(got, want) || d.Skipped != nil {
		t.Errorf("a guess: %v\n  %s\nwant\n  %s", err, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// away keeps a vendor directory that means nothing out of it; -mod=mod does not
// go with workspaces.
func away(files map[string]string) []string {
	if _, ok := files["go.work"]; ok {
		return nil
	}
	return []string{"GOFLAGS=-mod=mod", "GOWORK=off"}
}

func TestCGODecidesAboutFilesThatImportC(t *testing.T) {
	root := repoOf(t, map[string]string{"go.mod": gomod("example.com/m"), "cmd/c/main.go": "package main\n\nimport \"C\"\n\nfunc main() {}\n"})
	d, err := discover(t, root, "CGO_ENABLED=1")
	if commands, _ := lines(d); err != nil || !slices.Equal(commands, []string{"c cmd/c . example.com/m/cmd/c"}) {
		t.Errorf("%q, %v", commands, err)
	}
}

func TestTwoCommandsWithOneNameAreAnErrorThatNamesBoth(t *testing.T) {
	root := repoOf(t, map[string]string{
		"go.mod": gomod("example.com/m"), "cmd/a/app/main.go": "main", "cmd/b/app/main.go": "main", "cmd/c/main.go": "main", "cmd/x/c/main.go": "main", "cmd/ok/main.go": "main",
	})
	_, err := discover(t, root)
	var u *UsageError
	want := "command app: 2 directories make it: cmd/a/app, cmd/b/app\ncommand c: 2 directories make it: cmd/c, cmd/x/c"
	if err == nil || err.Error() != want || !errors.As(err, &u) || u.Hint() == "" {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestModuleOfADirectoryAboveCounts(t *testing.T) {
	root := repoOf(t, map[string]string{"go.mod": gomod("example.com/mono"), "svc/cmd/a/main.go": "main"})
	d, err := discover(t, filepath.Join(root, "svc"), "GOWORK=off")
	if commands, _ := lines(d); err != nil || !slices.Equal(commands, []string{"a cmd/a . example.com/mono/svc/cmd/a"}) {
		t.Errorf("%q, %v", commands, err)
	}
	if err := os.Mkdir(filepath.Join(root, "svc", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if d, err := discover(t, filepath.Join(root, "svc"), "GOWORK=off"); err != nil || len(d.Commands) > 0 {
		t.Errorf("a repository of its own: %v, %v", d, err)
	}
}

func TestRootBehindASymlink(t *testing.T) {
	root := repoOf(t, map[string]string{"go.mod": gomod("example.com/m"), "cmd/a/main.go": "main"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	d, err := discover(t, link)
	if commands, _ := lines(d); err != nil || !slices.Equal(commands, []string{"a cmd/a . example.com/m/cmd/a"}) {
		t.Errorf("%q, %v", commands, err)
	}
	if got := relDir(link, filepath.Join(real(t, root), "cmd", "a")); got != "cmd/a" {
		t.Error(got)
	}
}

func real(t *testing.T, path string) string {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func TestWhatGoSaysOfTheRootIsAnErrorAndOfOthersAReason(t *testing.T) {
	files := map[string]string{
		"go.mod": gomod("example.com/m") + "\nrequire example.com/dep v1.0.0\n", "cmd/a/main.go": "main", "vendor/modules.txt": "# example.com/other v1.0.0\n",
	}
	_, err := discover(t, repoOf(t, files))
	var said *GoError
	if !errors.As(err, &said) || !strings.Contains(said.Text, "inconsistent vendoring") || said.Hint() != "run `go mod vendor`" || strings.Count(err.Error(), "inconsistent") != 1 {
		t.Errorf("%v", err)
	}

	d, err := discover(t, repoOf(t, map[string]string{
		"go.work": "go 1.21\n\nuse .\n", "go.mod": gomod("example.com/m"), "cmd/a/main.go": "main", "cmd/out/go.mod": gomod("example.com/out"), "cmd/out/main.go": "main",
	}))
	commands, skipped := lines(d)
	if err != nil || !slices.Equal(commands, []string{"a cmd/a . example.com/m/cmd/a"}) || len(skipped) != 1 || !strings.HasPrefix(skipped[0], "cmd/out: ") || !strings.Contains(skipped[0], "go.work") {
		t.Errorf("%q, %q, %v", commands, skipped, err)
	}
}

// listing answers go list; it records the calls.
type listing struct {
	mu    sync.Mutex
	calls []string
	err   error
}

func (l *listing) Find(string) (string, error) { return "", nil }

func (l *listing) Run(_ context.Context, c run.Cmd) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, filepath.Base(c.Dir)+" "+strings.Join(c.Env, " ")+" "+c.String())
	io.WriteString(c.Stdout, `{"Dir":"`+filepath.ToSlash(c.Dir)+`/cmd/a","ImportPath":"m/cmd/a","Name":"main","GoFiles":["a.go"]}`)
	return l.err
}

func TestGoIsAskedOncePerModuleAndPlatform(t *testing.T) {
	root := repoOf(t, map[string]string{
		"go.mod": gomod("m"), "cmd/a/a.go": "main", "cmd/a/a_arm.go": "main", "lib/lib.go": "package lib\n", "lib/go.mod": gomod("lib"),
	})
	l := &listing{}
	platforms, _, _ := platform.ParseList("linux/arm/v6 linux/amd64")
	if _, err := Commands(t.Context(), l, root, platforms, "GOFLAGS=-tags=x"); err != nil {
		t.Fatal(err)
	}
	slices.Sort(l.calls)
	want := []string{
		filepath.Base(root) + " GOOS=linux GOARCH=amd64 GOAMD64=v1 CGO_ENABLED=0 GOFLAGS=-tags=x go list -e -find -json=Dir,ImportPath,Name,GoFiles,CgoFiles,Error ./cmd/...",
		filepath.Base(root) + " GOOS=linux GOARCH=arm GOARM=6 CGO_ENABLED=0 GOFLAGS=-tags=x go list -e -find -json=Dir,ImportPath,Name,GoFiles,CgoFiles,Error ./cmd/...",
	}
	if !slices.Equal(l.calls, want) {
		t.Errorf("got\n%s", strings.Join(l.calls, "\n"))
	}
}

// The go command is not asked again where its answer is known.
func TestPlatformsThatNoConstraintTellsApartAreAskedAboutOnce(t *testing.T) {
	platforms, _, _ := platform.ParseList("linux/amd64 linux/arm64 linux/arm/v7 darwin/arm64")
	const once, each = 2, 4
	for name, c := range map[string]struct {
		file, text string
		asked      int
	}{
		"none":                    {"b.go", "main", once},
		"system":                  {"b_linux.go", "main", once},
		"tag":                     {"b.go", "//go:build special || !cgo\n\npackage main\n", once},
		"architecture not wanted": {"b.go", "//go:build !mips\n\npackage main\n", once},
		"architecture":            {"b.go", "//go:build !arm\n\npackage main\n", each},
		"either":                  {"b.go", "//go:build linux || (special && arm64)\n\npackage main\n", each},
		"feature":                 {"b.go", "//go:build arm.6\n\npackage main\n", each},
		"old form":                {"b.go", "// +build arm\n\npackage main\n", each},
		"name":                    {"b_amd64.go", "main", each},
		"both in name":            {"b_windows_arm64.go", "main", each},
		"of another system":       {"b_plan9.go", "//go:build amd64\n\npackage main\n", each},
		"broken":                  {"b_arm64.go", "package (\n", each},
	} {
		root := repoOf(t, map[string]string{"go.mod": gomod("m"), "cmd/a/a.go": "main", "cmd/a/" + c.file: c.text})
		l := &listing{}
		found, err := Commands(t.Context(), l, root, platforms)
		if err != nil || len(l.calls) != c.asked {
			t.Errorf("%s: asked %q, %v", name, l.calls, err)
		}
		if len(found.Commands) != 1 || !slices.Equal(found.Commands[0].Platforms, platforms) {
			t.Errorf("%s: found %+v", name, found.Commands)
		}
	}
}

func TestGoThatCannotRunIsAnError(t *testing.T) {
	root := repoOf(t, map[string]string{"cmd/a/go.mod": gomod("m"), "cmd/a/a.go": "main"})
	l := &listing{err: context.Canceled}
	if _, err := Commands(t.Context(), l, root, []platform.Platform{platform.Host()}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
