package audit

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/archmage-go/archmage/build/rootfs"
)

// link judges what a dynamic program needs to be there when it starts: its
// program interpreter, and its libraries, and theirs. entry says that the
// image's entrypoint starts it, so that no wrapper can name other directories.
func (l *look) link(p string, program Program, entry bool) {
	if program.Interp == "" {
		return
	}
	interp := l.fromWorkdir(program.Interp)
	n, err := l.tree.Stat(interp)
	switch {
	case err != nil && l.partial:
		l.unsure(p, "its program interpreter %s is not in the layers that could be read", program.Interp)
		return
	case err != nil:
		l.wrong(fixLoader, p, "needs the program interpreter %s, which is not in the image%s", program.Interp, because(program))
		return
	case !n.Mode.IsRegular():
		l.wrong(fixLoader, p, "its program interpreter %s is no regular file", program.Interp)
		return
	}
	if is, ok := elfOf(n); ok && is != l.want.ELF() {
		l.wrong(fixBase, p, "its program interpreter %s is %s", program.Interp, machine(is))
		return
	} else if !ok && headOf(n) != "" {
		l.wrong(fixLoader, p, "its program interpreter %s is no ELF file", program.Interp)
		return
	}
	l.libraries(p, program, entry)
}

// headOf is how a file begins; "" where it was not read, or holds nothing.
func headOf(n *rootfs.Node) string {
	if c, ok := n.Data.(*content); ok {
		return c.head()
	}
	return ""
}

// need is a library that something asks for.
type need struct {
	name string
	by   string   // path of what needs it
	dirs []string // where it says that libraries are
}

// maxLibraries bounds how many libraries one program is followed to.
const maxLibraries = 2000

// libraries follows what a program needs. Of a base whose layers were not read
// it is not known what its libraries need in turn; those are the base's own.
func (l *look) libraries(p string, program Program, entry bool) {
	own := l.runPath(p, program)
	queue := needs(p, program, own)
	common := append(own, l.libraryDirs(program.Interp)...)
	seen := map[string]bool{path.Base(program.Interp): true} // it has loaded itself
	for i := 0; i < len(queue) && i < maxLibraries; i++ {
		lib := queue[i]
		if seen[lib.name] || builtIn(lib.name, program.Interp) {
			continue
		}
		seen[lib.name] = true
		at, n := l.library(lib, common)
		if n == nil {
			l.lacks(p, lib, entry)
			continue
		}
		if c, ok := n.Data.(*content); ok && c.layer.read {
			if r, err := c.section(); err == nil {
				one := Inspect(r)
				queue = append(queue, needs(at, one, l.runPath(at, one))...)
			}
		}
	}
}

func needs(p string, program Program, dirs []string) (list []need) {
	for _, name := range program.Needed {
		list = append(list, need{name, p, dirs})
	}
	return list
}

// lacks reports a library that was not found.
func (l *look) lacks(p string, lib need, entry bool) {
	by := ""
	if lib.by != p {
		by = ", which " + lib.by + " needs,"
	}
	elsewhere := l.somewhere(lib.name)
	switch {
	case l.partial:
		l.unsure(p, "the library %s%s is not in the layers that could be read", lib.name, by)
	case elsewhere == "":
		l.wrong(fixLibrary, p, "needs the library %s%s, which is not in the image", lib.name, comma(by))
	case entry:
		l.wrong(fixLibrary, p, "needs the library %s%s, which is in %s alone, where its interpreter does not look", lib.name, comma(by), elsewhere)
	default:
		l.unsure(p, "needs the library %s%s, which is in %s alone: whoever starts it has to say so", lib.name, comma(by), elsewhere)
	}
}

func comma(by string) string {
	if by == "" {
		return ""
	}
	return by[:len(by)-1]
}

// library finds the file that a program interpreter would load: the first of
// that name and of this platform, others are passed over (ld.so(8)).
func (l *look) library(lib need, dirs []string) (string, *rootfs.Node) {
	if path.Base(lib.name) != lib.name {
		dirs = []string{path.Dir(l.fromWorkdir(lib.name))}
	} else {
		dirs = slices.Concat(lib.dirs, dirs)
	}
	for _, dir := range dirs {
		at, err := l.tree.Resolve("/", path.Join(dir, path.Base(lib.name)), true)
		if err != nil {
			continue
		}
		n, err := l.tree.Lstat(at)
		if err != nil || !n.Mode.IsRegular() {
			continue
		}
		if is, ok := elfOf(n); ok && is != l.want.ELF() {
			continue
		}
		return at, n
	}
	return "", nil
}

// somewhere is the directory of a file of that name, wherever it is.
func (l *look) somewhere(name string) (dir string) {
	_ = l.tree.Walk("/", func(p string, n *rootfs.Node) error {
		if path.Base(p) == path.Base(name) && !n.IsDir() {
			dir = path.Dir(p)
			return fs.SkipAll
		}
		return nil
	})
	return dir
}

// cause is the end of a chain of errors about a path: the path is known.
func cause(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}
