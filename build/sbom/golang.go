package sbom

import (
	"path"
	"runtime/debug"
	"strings"

	"github.com/package-url/packageurl-go"
	"golang.org/x/mod/modfile"
)

// module is one that a program was linked from.
type module struct {
	path, version string // version is "" where it is none that was released
	comment       string
	main          bool
}

// modulesOf lists the main module, the others, and the standard library, which
// the go command does not list.
func modulesOf(b *debug.BuildInfo) []module {
	var list []module
	if b.Main.Path != "" {
		list = append(list, module{path: b.Main.Path, version: released(b.Main.Version), main: true})
	}
	for _, dep := range b.Deps {
		list = append(list, linked(dep))
	}
	// "go1.26.8", with what was changed of it after a blank.
	version, _, _ := strings.Cut(strings.TrimPrefix(b.GoVersion, "go"), " ")
	if strings.HasPrefix(b.GoVersion, "devel") {
		version = ""
	}
	return append(list, module{path: "stdlib", version: version})
}

// linked is the module that was used in a dependency's place. A directory that
// was used has no version, and where it was is nobody's business.
func linked(dep *debug.Module) module {
	by := dep.Replace
	switch {
	case by == nil:
		return module{path: dep.Path, version: released(dep.Version)}
	case modfile.IsDirectoryPath(by.Path) || released(by.Version) == "":
		return module{path: dep.Path, comment: "Replaced by a directory of the build, whose version is not known."}
	}
	text := "Replaces " + dep.Path
	if version := released(dep.Version); version != "" {
		text += " " + version
	}
	return module{path: by.Path, version: released(by.Version), comment: text + "."}
}

// released is a version that others can ask for, else "".
func released(version string) string {
	if version == "(devel)" {
		return ""
	}
	return version
}

// golangURL is a module's package URL. It keeps the case of the path, as lists of
// vulnerabilities do: to the go command it makes another module.
func golangURL(m module) string {
	dir, base := path.Split(m.path)
	return packageurl.NewPackageURL(packageurl.TypeGolang, strings.TrimSuffix(dir, "/"), base, m.version, nil, "").ToString()
}
