package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// said is a text of the source that people read when something is wrong.
type said struct {
	file string // from the root of the repository
	call string // what makes an error of it: Usage, fmt.Errorf, …
	text string // … stands for what differs
	hint string // what to do, where it is said in the same call
}

// places are where calls that make errors have the text and, from 1, the hint.
var places = map[string]struct{ text, hint int }{
	"errors.New":    {0, 0},
	"fmt.Errorf":    {0, 0},
	"badFlags":      {0, 0}, // build/compile
	"Usage":         {1, 1}, // build
	"bad":           {1, 1}, // build/config
	"Errorf":        {2, 2},
	"config.Errorf": {2, 2},
	"usage":         {2, 2}, // build/plan
	"refuse":        {1, 0}, // build/publish
	"l.wrong":       {2, 1}, // build/audit
	"look.wrong":    {2, 1},
	"r.wrong":       {2, 2},
	"j.wrong":       {0, 0},
}

// errorTexts are the texts of all errors that archmage makes, in the order of
// the source.
func errorTexts(t *testing.T) (list []said) {
	t.Helper()
	for _, root := range []string{"build", "cmd/archmage"} {
		err := fs.WalkDir(os.DirFS("../.."), root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || !d.IsDir():
				return err
			case slices.Contains([]string{"testdata", "parity", "faulty"}, d.Name()):
				return fs.SkipDir // which are for tests
			}
			list = append(list, textsOf(t, name)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// textsOf are the texts of one package.
func textsOf(t *testing.T, dir string) (list []said) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	parsed := map[string]*ast.File{}
	constants := map[string]ast.Expr{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed[name] = file
		constantsOf(file, constants)
	}
	for _, name := range files {
		if file := parsed[name]; file != nil {
			list = append(list, textsIn(file, path.Join(dir, filepath.Base(name)), constants)...)
		}
	}
	return list
}

func constantsOf(file *ast.File, into map[string]ast.Expr) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			for i, v := range s.(*ast.ValueSpec).Values {
				into[s.(*ast.ValueSpec).Names[i].Name] = v
			}
		}
	}
}

func textsIn(file *ast.File, name string, constants map[string]ast.Expr) (list []said) {
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Error" {
			list = append(list, methodTexts(f, name)...)
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		callee := strings.TrimPrefix(calleeOf(call), "build.")
		at, ok := places[callee]
		if !ok || len(call.Args) <= at.text {
			return true
		}
		s := said{file: name, call: callee, text: unformatted(written(call.Args[at.text], constants))}
		if at.hint > 0 {
			s.hint = written(call.Args[at.hint-1], constants)
		}
		list = append(list, s)
		return true
	})
	return list
}

// methodTexts are the phrases of an Error method.
func methodTexts(f *ast.FuncDecl, name string) (list []said) {
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text := unformatted(written(lit, nil))
			if words := strings.Trim(text, "… ,:;()\n"); strings.Contains(words, " ") {
				list = append(list, said{file: name, call: "Error", text: strings.TrimSuffix(words, ":")})
			}
		}
		return true
	})
	return list
}

// calleeOf is the name of what is called, with its package or receiver.
func calleeOf(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		switch x := f.X.(type) {
		case *ast.Ident:
			return x.Name + "." + f.Sel.Name
		case *ast.SelectorExpr:
			return x.Sel.Name + "." + f.Sel.Name
		}
	}
	return ""
}

var formatted = regexp.MustCompile(`%[-+# 0-9.*\[\]]*[a-zA-Z]`)

func unformatted(text string) string {
	return strings.ReplaceAll(formatted.ReplaceAllString(text, "…"), "%%", "%")
}

// written is what stands in an expression of type string; … is what does not.
func written(e ast.Expr, constants map[string]ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return written(e.X, constants) + written(e.Y, constants)
	case *ast.Ident:
		if value, ok := constants[e.Name]; ok {
			return written(value, constants)
		}
	}
	return "…"
}
