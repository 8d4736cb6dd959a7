package build

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	modulePath = "github.com/archmage-go/archmage"
	remotePath = "github.com/google/go-containerregistry/pkg/v1/remote"
	authnPath  = "github.com/google/go-containerregistry/pkg/authn"
	shellPath  = "mvdan.cc/sh"
)

// stages are the packages below build that do one step of the work each, with
// the other stages that each may import.
var stages = map[string][]string{
	"adopt":      {},
	"audit":      {"rootfs", "registry"},
	"compile":    {"plan"},
	"config":     {},
	"dockerfile": {},
	"image":      {"dockerfile", "replay", "rootfs", "registry"},
	"plan":       {"dockerfile"},
	"publish":    {"registry"},
	"registry":   {},
	"replay":     {"dockerfile", "rootfs"},
	"rootfs":     {},
	"sbom":       {"audit"},
	"verify":     {"dockerfile", "replay", "rootfs"},
}

// leaves may be imported by all and import no other part.
var leaves = []string{"cache", "console", "files", "platform", "run"}

// TestDirection holds which part may use which. It reads the sources in this
// process, so that a cached result is dropped when one of them changes.
func TestDirection(t *testing.T) {
	files := 0
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && outside(name) {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			files++
			return judgeFile(t.Errorf, os.DirFS(".."), name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files were read", files)
	}
}

// outside are directories that are not part of this module's programs.
func outside(name string) bool {
	base := path.Base(name)
	return base == "testdata" || name != "." && strings.HasPrefix(base, ".") || slices.Contains([]string{"tools", "bin", "dist", "scripts", "docs", "third_party"}, name)
}

func judgeFile(report func(string, ...any), fsys fs.FS, name string) error {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	for _, wrong := range judge(name, data) {
		report("%s", wrong)
	}
	return nil
}

// judge lists what a file, named from the module's root, does against the rules.
func judge(name string, source []byte) []string {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	r := reader{fset: fset, part: partOf(name), dir: path.Dir(name)}
	names := map[string]string{} // what a package is called in this file → its path
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		r.imports(spec, imported)
		called := path.Base(imported)
		if spec.Name != nil {
			called = spec.Name.Name
		}
		names[called] = imported
		if called == "." {
			r.wrong(spec, "imports %s without its name", imported)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && names[x.Name] == "os" {
				r.uses(s, s.Sel.Name)
			}
		}
		return true
	})
	return r.found
}

// partOf is where a file belongs: a directory below build, "build" itself,
// "targets", or "cmd" for programs and the magefile.
func partOf(name string) string {
	words := strings.Split(name, "/")
	switch {
	case words[0] != "build":
		return "cmd"
	case len(words) == 2:
		return "build"
	}
	return words[1]
}

type reader struct {
	fset  *token.FileSet
	part  string
	dir   string
	found []string
}

func (r *reader) wrong(n ast.Node, format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf("%s: %s %s", r.fset.Position(n.Pos()), r.part, fmt.Sprintf(format, args...)))
}

// imports judges one import.
func (r *reader) imports(spec ast.Node, imported string) {
	only := func(part string) {
		if !below(r.dir, "build/"+part) {
			r.wrong(spec, "imports %s: only build/%s may", imported, part)
		}
	}
	switch {
	case imported == "os/exec":
		only("run")
	case below(imported, "github.com/moby/buildkit"):
		only("dockerfile")
	case below(imported, remotePath), below(imported, authnPath):
		only("registry")
	case below(imported, shellPath):
		only("verify/shell")
	case below(imported, modulePath):
		if to := strings.TrimPrefix(strings.TrimPrefix(imported, modulePath), "/"); !r.mayImport(to) {
			r.wrong(spec, "imports %s", to)
		}
	}
}

// below reports whether a package or directory is the one at base, or one inside
// of it.
func below(name, base string) bool {
	return name == base || strings.HasPrefix(name, base+"/")
}

// mayImport says whether the file's part may import a package of this module,
// named from its root.
func (r *reader) mayImport(to string) bool {
	target := partOf(to + "/x.go")
	_, stage := stages[r.part]
	switch {
	case target == r.part && r.part != "cmd":
		return true // a directory inside of the part
	case to == "scripts":
		return r.part == "cmd" // for go mod vendor
	case target == "cmd":
		return false
	case slices.Contains(leaves, target):
		return !slices.Contains(leaves, r.part)
	case r.part == "cmd" || r.part == "targets":
		return target == "build" || target == "config" || target == "targets"
	case r.part == "build":
		return target != "targets"
	}
	return stage && slices.Contains(stages[r.part], target)
}

// process are what only the edges of the program may touch: where it ends, what
// it prints to, what surrounds it.
var process = []string{"Exit", "Stdout", "Stderr", "Stdin", "Getenv", "LookupEnv", "Environ", "Setenv", "Unsetenv", "Args"}

func (r *reader) uses(n ast.Node, name string) {
	inherits := r.part == "run" && name == "Environ" // what is started gets the caller's environment
	if slices.Contains(process, name) && !inherits && !slices.Contains([]string{"cmd", "config", "console"}, r.part) {
		r.wrong(n, "uses os.%s: only cmd, build/config and build/console may", name)
	}
}

func TestEveryPartIsInTheTable(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, e := range entries {
		_, stage := stages[e.Name()]
		if found[e.Name()] = true; e.IsDir() && !stage && !slices.Contains(leaves, e.Name()) && e.Name() != "targets" {
			t.Errorf("build/%s is no stage and no leaf", e.Name())
		}
	}
	for name := range stages {
		if !found[name] {
			t.Errorf("there is no build/%s", name)
		}
	}
}

func TestTheRulesCanBeBroken(t *testing.T) {
	const own = modulePath + "/build/"
	tests := []struct{ file, code, says string }{
		{"build/plan/a.go", `import "` + own + `dockerfile"`, ""},
		{"build/plan/a.go", `import "` + own + `platform"`, ""},
		{"build/plan/a.go", `import "` + own + `registry"`, "build/plan/a.go:2:8: plan imports build/registry"},
		{"build/dockerfile/a.go", `import "` + own + `plan"`, "dockerfile imports build/plan"},
		{"build/registry/a.go", `import x "` + own + `publish"`, "registry imports build/publish"},
		{"build/compile/a.go", `import "` + own + `config"`, "compile imports build/config"},
		{"build/image/parity/a.go", `import "` + own + `image"`, ""},
		{"build/image/a.go", `import "` + own + `image/parity"`, ""},
		{"build/verify/a.go", `import "` + own + `image/parity"`, "verify imports build/image/parity"},
		{"build/plan/a.go", `import "` + modulePath + `/build"`, "plan imports build"},
		{"build/plan/a.go", `import "` + modulePath + `/cmd/archmage"`, "plan imports cmd/archmage"},
		{"build/run/a.go", `import "` + own + `platform"`, "run imports build/platform"},
		{"build/console/a.go", `import "` + own + `config"`, "console imports build/config"},
		{"build/a.go", `import "` + own + `publish"`, ""},
		{"build/a.go", `import "` + own + `targets"`, "build imports build/targets"},
		{"build/targets/a.go", `import "` + modulePath + `/build"`, ""},
		{"build/targets/a.go", `import "` + own + `plan"`, "targets imports build/plan"},
		{"cmd/archmage/a.go", `import "` + own + `registry"`, "cmd imports build/registry"},
		{"magefile.go", `import _ "` + own + `targets"`, ""},
		{"cmd/archmage/a.go", `import _ "` + modulePath + `/scripts"`, ""},
		{"build/a.go", `import _ "` + modulePath + `/scripts"`, "build imports scripts"},
		{"build/new/a.go", `import "` + own + `plan"`, "new imports build/plan"},

		{"build/run/a.go", `import "os/exec"`, ""},
		{"build/compile/a.go", `import "os/exec"`, "compile imports os/exec: only build/run may"},
		{"cmd/archmage/a.go", `import "os/exec"`, "cmd imports os/exec"},
		{"build/dockerfile/a.go", `import "github.com/moby/buildkit/solver/pb"`, ""},
		{"build/verify/a.go", `import "github.com/moby/buildkit/solver/pb"`, "only build/dockerfile may"},
		{"build/verify/a.go", `import "github.com/moby/buildkit2"`, ""},
		{"build/registry/a.go", `import "` + remotePath + `"`, ""},
		{"build/publish/a.go", `import "` + remotePath + `"`, "only build/registry may"},
		{"build/publish/a.go", `import "` + remotePath + `/transport"`, "only build/registry may"},
		{"build/verify/shell/a.go", `import "` + shellPath + `/v3/syntax"`, ""},
		{"build/verify/a.go", `import "` + shellPath + `/v3/syntax"`, "only build/verify/shell may"},
		{"build/verify/shells/a.go", `import "` + shellPath + `/v3/syntax"`, "only build/verify/shell may"},
		{"build/publish/a.go", `import "` + authnPath + `"`, "only build/registry may"},

		{"cmd/archmage/a.go", "import \"os\"\nfunc f() { os.Exit(1) }", ""},
		{"build/config/a.go", "import \"os\"\nvar x = os.Getenv(\"X\")", ""},
		{"build/plan/a.go", "import \"os\"\nfunc f() { os.Exit(1) }", "build/plan/a.go:3:12: plan uses os.Exit"},
		{"build/image.go", "import \"os\"\nvar out = os.Stdout", "build uses os.Stdout"},
		{"build/targets/a.go", "import sys \"os\"\nvar x = sys.Getenv(\"X\")", "targets uses os.Getenv"},
		{"build/plan/a.go", "import . \"os\"\nvar x = Getenv(\"X\")", "imports os without its name"},
		{"build/run/a.go", "import \"os\"\nvar x = os.Environ()", ""},
		{"build/run/a.go", "import \"os\"\nvar x = os.Getenv(\"X\")", "run uses os.Getenv"},
		{"build/plan/a.go", "import \"os\"\nvar x, _ = os.ReadFile(\"x\")", ""},
		{"build/plan/a.go", "import (", "expected"},
	}
	for _, tt := range tests {
		got := strings.Join(judge(tt.file, []byte("package p\n"+tt.code+"\n")), "\n")
		if tt.says == "" && got != "" || !strings.Contains(got, tt.says) {
			t.Errorf("%s with %q: %q, want %q", tt.file, tt.code, got, tt.says)
		}
	}
	if err := judgeFile(t.Errorf, fstest.MapFS{}, "gone.go"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file that cannot be read passes")
	}
}
