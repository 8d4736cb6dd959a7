package adopt

import (
	"bytes"
	"errors"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// MageDir is where Mage looks for targets that have a module of their own.
const MageDir = "magefiles"

// Magefiles is what a repository has of Mage's.
type Magefiles struct {
	Root    []string // magefiles in the root, which are part of its module
	Dir     bool     // there is a directory of them
	OwnMod  bool     // which is a module of its own
	Adopted bool     // one imports archmage's targets
	Needs   bool     // the directory has no module that requires archmage
	Targets []string // exported functions, in lower case
	Imports []string // packages
}

// ReadMagefiles reads the Go files of the root that are built with the tag mage
// alone, and those of [MageDir].
func ReadMagefiles(fsys fs.FS) (Magefiles, error) {
	var m Magefiles
	for _, dir := range []string{".", MageDir} {
		files, err := fs.Glob(fsys, path.Join(dir, "*.go"))
		if err != nil {
			return m, err
		}
		for _, name := range files {
			data, err := fs.ReadFile(fsys, name)
			if err != nil {
				return m, err
			}
			if strings.HasSuffix(name, "_test.go") || dir == "." && !taggedMage(data) {
				continue
			}
			m.read(name, data)
			if dir == "." {
				m.Root = append(m.Root, name)
			} else {
				m.Dir = true
			}
		}
	}
	own, err := readModule(fsys, MageDir+"/go.mod")
	root, rootErr := readModule(fsys, "go.mod")
	m.OwnMod = own != nil
	if own == nil {
		own = root
	}
	m.Needs = m.Dir && !bytes.Contains(own, []byte(Module+" "))
	return m, errors.Join(err, rootErr)
}

// readModule is a go.mod, nil where there is none.
func readModule(fsys fs.FS, name string) ([]byte, error) {
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return append([]byte{}, data...), err
}

// taggedMage reports whether a file is one of Mage's: //go:build mage.
func taggedMage(data []byte) bool {
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "package ") {
			return false
		}
		if x, err := constraint.Parse(text); err == nil {
			with := x.Eval(func(tag string) bool { return true })
			without := x.Eval(func(tag string) bool { return tag != "mage" })
			if with && !without {
				return true
			}
		}
	}
	return false
}

// read remembers what a file declares. One that does not parse says nothing.
func (m *Magefiles) read(name string, data []byte) {
	file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		m.Adopted = m.Adopted || imported == Targets
		if !slices.Contains(m.Imports, imported) {
			m.Imports = append(m.Imports, imported)
		}
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
			m.Targets = append(m.Targets, strings.ToLower(f.Name.Name))
		}
	}
}
