package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// codeName is the name of a function, method, type or constant in a document:
// build.Project, image.Native.Build, rootfs.maxEntries.
var codeName = regexp.MustCompile("`([a-z]+)\\.([A-Za-z]\\w*)(?:\\.([A-Za-z]\\w*))?`")

// notOurs begin like names of packages here and are something else.
var notOurs = map[string]bool{"v1": true, "os": true, "archmage": true, "go": true}

// TestDocumentsNameWhatIsThere looks up every name of the code that the
// documents give.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	for file, least := range map[string]int{"architecture.md": 35, "security.md": 10} {
		text, err := os.ReadFile("../../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range codeName.FindAllStringSubmatch(string(text), -1) {
			if pkg, name := m[1], strings.TrimSuffix(m[2]+"."+m[3], "."); !notOurs[pkg] && !isFile(name) {
				found++
				if _, ok := declared(t, pkg)[name]; !ok {
					t.Errorf("docs/%s names %s, which is not there", file, m[0])
				}
			}
		}
		if found < least {
			t.Errorf("docs/%s names %d things", file, found)
		}
	}
}

func isFile(ext string) bool { return ext == "mod" || ext == "yaml" || ext == "json" || ext == "io" }

// TestEveryStageIsInTheArchitecture: each package has its paragraph, which
// names something of it.
func TestEveryStageIsInTheArchitecture(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := os.ReadDir("../../build")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if !d.IsDir() || d.Name() == "testdata" {
			continue
		}
		if !strings.Contains(string(text), "**"+d.Name()+"**") || !strings.Contains(string(text), "`"+d.Name()+".") {
			t.Errorf("docs/architecture.md has nothing of build/%s", d.Name())
		}
	}
}

var limitRow = regexp.MustCompile("(?m)^\\| .* \\| (\\d+)( MiB| GiB)?.* \\| `([a-z]+)\\.([a-z]\\w*)` \\|$")

// TestLimitsAreThoseOfTheCode compares numbers with the constants they are of.
func TestLimitsAreThoseOfTheCode(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, row := range limitRow.FindAllStringSubmatch(string(text), -1) {
		spec, ok := declared(t, row[3])[row[4]].(ast.Expr)
		if !ok {
			continue // no constant
		}
		compared++
		value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(spec))
		if err != nil {
			t.Fatal(err)
		}
		number, _ := constant.Int64Val(value.Value)
		unit := map[string]int64{"": 1, " MiB": 1 << 20, " GiB": 1 << 30}[row[2]]
		if got := fmt.Sprint(number / unit); got != row[1] || number%unit != 0 {
			t.Errorf("docs/security.md says %s%s of %s.%s, which is %d", row[1], row[2], row[3], row[4], number)
		}
	}
	if compared < 8 {
		t.Errorf("%d limits compared", compared)
	}
}

// declared is what a package of build declares: functions, methods as Type.Name,
// types, variables, and constants with their value.
func declared(t *testing.T, pkg string) map[string]any {
	t.Helper()
	dir := "../../build/" + pkg
	if pkg == "build" {
		dir = "../../build"
	}
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]any{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			declare(names, d)
		}
	}
	return names
}

func declare(names map[string]any, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if p, ok := receiver.(*ast.StarExpr); ok {
				receiver = p.X
			}
			name = types.ExprString(receiver) + "." + name
		}
		names[name] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names[s.Name.Name] = true
			case *ast.ValueSpec:
				for i, n := range s.Names {
					names[n.Name] = true
					if d.Tok == token.CONST && i < len(s.Values) {
						names[n.Name] = s.Values[i]
					}
				}
			}
		}
	}
}
