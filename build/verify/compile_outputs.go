package verify

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/archmage-go/archmage/build/verify/shell"
)

// takesValue are the flags of go build and go install that a word of its own
// follows.
var takesValue = []string{
	"-o", "-C", "-p", "-tags", "-ldflags", "-gcflags", "-asmflags", "-gccgoflags", "-mod", "-modfile", "-buildmode", "-compiler",
	"-covermode", "-coverpkg", "-overlay", "-pgo", "-pkgdir", "-installsuffix", "-toolexec",
}

// outputs lists the files that a compile writes, with "*" for what is unknown
// of a name. ok is false where not even that can be said.
func (s *state) outputs(c compilation) (files []string, ok bool) {
	out, packages := operands(c.args)
	if c.verb == "install" {
		return installed(c, packages)
	}
	dir := c.directory()
	many := len(packages) > 1 && !strings.HasSuffix(packages[0], ".go") || slices.ContainsFunc(packages, func(p string) bool { return strings.Contains(p, "...") })
	switch {
	case out.Text == "" && many:
		return nil, true
	case out.Text == "/dev/null":
		return nil, true
	case out.Text == "" && dir.Open, out.Open && !strings.HasPrefix(out.Text, "/") && dir.Open:
		return nil, false
	case out.Text == "":
		return inDir(dir.Text, s.programNames(dir.Text, packages)), true
	}
	at := dir.Path(out.Text)
	switch {
	case at.Open:
		return nil, false
	case many || strings.HasSuffix(out.Text, "/") || out.Text == "." || strings.HasSuffix(out.Text, "/."):
		return inDir(at.Text, s.programNames(dir.Text, packages)), true
	}
	return append([]string{at.Text}, inDir(at.Text, s.programNames(dir.Text, packages))...), true
}

// operands are the value of -o, and the packages.
func operands(args []shell.Value) (out shell.Value, packages []string) {
	for i := 0; i < len(args); i++ {
		flag, rest, joined := strings.Cut(args[i].Text, "=")
		flag = strings.Replace(flag, "--", "-", 1)
		switch {
		case !strings.HasPrefix(flag, "-"):
			packages = append(packages, args[i].Text)
		case flag == "-o" && joined:
			out = shell.Value{Text: rest, Open: args[i].Open}
		case slices.Contains(takesValue, flag) && !joined && i+1 < len(args):
			if i++; flag == "-o" {
				out = args[i]
			}
		}
	}
	return out, packages
}

func inDir(dir string, list []string) []string {
	out := make([]string, len(list))
	for i, name := range list {
		out[i] = path.Join(dir, name)
	}
	return out
}

// programNames are those go gives to the programs of packages.
func (s *state) programNames(dir string, packages []string) []string {
	if len(packages) == 0 || len(packages) == 1 && path.Clean(packages[0]) == "." {
		list := []string{path.Base(dir)}
		if m := s.module(); m != "" {
			list = append(list, m)
		}
		return list
	}
	var list []string
	for _, p := range packages {
		name := program(p)
		if strings.Contains(p, "...") {
			name = "*"
		}
		list = append(list, name)
	}
	return list
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// program is the name of a package's program.
func program(pkg string) string {
	pkg, _, _ = strings.Cut(pkg, "@")
	pkg = path.Clean(pkg)
	if majorVersion.MatchString(path.Base(pkg)) {
		pkg = path.Dir(pkg)
	}
	return strings.TrimSuffix(path.Base(pkg), ".go")
}

// module is the last part of the path of the module in the context's root.
func (s *state) module() string {
	if s.files.fsys == nil {
		return ""
	}
	data, err := fs.ReadFile(s.files.fsys, "go.mod")
	if err != nil {
		return ""
	}
	if module := modfile.ModulePath(data); module != "" {
		return program(module)
	}
	return ""
}

// installed are the places where go install may put programs: cross-compiled
// ones go one directory deeper.
func installed(c compilation, packages []string) ([]string, bool) {
	bins := []string{"/go/bin", "/root/go/bin"}
	if v := c.call.Hears["GOBIN"]; v.Open {
		return nil, false
	} else if v.Text != "" {
		bins = []string{v.Text}
	} else if v := c.call.Hears["GOPATH"]; v.Open {
		return nil, false
	} else if v.Text != "" {
		first, _, _ := strings.Cut(v.Text, ":")
		bins = []string{path.Join(first, "bin")}
	}
	var list []string
	for _, bin := range bins {
		for _, p := range packages {
			name := program(p)
			if strings.Contains(p, "...") || name == "." {
				name = "*"
			}
			list = append(list, path.Join(bin, name), path.Join(bin, "linux_*", name))
		}
		if len(packages) == 0 {
			list = append(list, path.Join(bin, "*"))
		}
	}
	return list, true
}
