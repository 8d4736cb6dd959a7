package plan

import (
	"go/build"
	"io/fs"
	"path"
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// programs names the programs of a repository by reading package clauses: what
// a root Dockerfile is named after. It needs no go command, since manifest and
// promote run where there is none. Programs that are for other systems only do
// not count.
func programs(fsys fs.FS, root string) []string {
	var names []string
	_ = fs.WalkDir(fsys, "cmd", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if p != "cmd" && hidden(d.Name()) {
			return fs.SkipDir
		}
		if isMain(filepath.Join(root, filepath.FromSlash(p))) {
			names = append(names, programName(fsys, p))
		}
		return nil
	})
	if len(names) == 0 && isMain(root) {
		names = append(names, programName(fsys, "."))
	}
	return names
}

func isMain(dir string) bool {
	p, err := importDir(dir, "amd64")
	return err == nil && p.Name == "main"
}

// importDir reads what of a package is built for Linux on an architecture.
func importDir(dir, arch string) (*build.Package, error) {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "linux", arch, false
	return ctx.ImportDir(dir, 0)
}

func programName(fsys fs.FS, dir string) string {
	if dir != "." && dir != "cmd" {
		return path.Base(dir)
	}
	data, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return ""
	}
	return moduleName(modfile.ModulePath(data))
}

// moduleName is the last element of a module path that is no major version.
func moduleName(modulePath string) string {
	if prefix, _, ok := module.SplitPathVersion(modulePath); ok {
		modulePath = prefix
	}
	return path.Base(modulePath)
}
