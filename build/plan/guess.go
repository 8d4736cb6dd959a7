package plan

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/archmage-go/archmage/build/platform"
)

// Guess finds commands as [Commands] does, but by reading package clauses and
// build constraints instead of asking the go command: for those who judge and do
// not compile, where go cannot list packages. It says nothing about what is
// passed over.
func Guess(root string, platforms []platform.Platform) (Discovered, error) {
	s, err := scan(root)
	if err != nil {
		return Discovered{}, fmt.Errorf("find commands: %w", err)
	}
	d := discovery{sources: s, packages: map[string][]goPackage{}}
	for dir, at := range s.dirs {
		packages := make([]goPackage, len(platforms))
		for i, p := range platforms {
			if found, _ := importDir(filepath.Join(root, filepath.FromSlash(dir)), p.Arch); found.Name == "main" { // broken code too, as in list
				packages[i] = goPackage{Name: found.Name, ImportPath: importPath(root, at.module, dir), GoFiles: found.GoFiles}
			}
		}
		d.packages[dir] = packages
	}
	found, err := d.result(platforms)
	found.Skipped = nil
	return found, err
}

// importPath is the path of a package in a module, "" where that has no name.
func importPath(root, module, dir string) string {
	data, _ := os.ReadFile(filepath.Join(root, filepath.FromSlash(module), "go.mod"))
	name := modfile.ModulePath(data)
	if name == "" {
		return ""
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(dir, module), "/")
	if module == "." {
		rel = dir
	}
	return path.Join(slices.DeleteFunc([]string{name, rel}, func(s string) bool { return s == "." })...)
}
