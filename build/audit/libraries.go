package audit

import (
	"path"
	"slices"
	"strings"
)

// musl says that a program interpreter is musl's.
func musl(interp string) bool { return strings.HasPrefix(path.Base(interp), "ld-musl-") }

// builtIn reports whether a library is a part of musl, which then looks for no
// file (ldso/dynlink.c, load_library).
func builtIn(name, interp string) bool {
	rest, ok := strings.CutPrefix(name, "lib")
	if !ok || !musl(interp) {
		return false
	}
	part, _, _ := strings.Cut(rest, ".")
	return slices.Contains([]string{"c", "pthread", "rt", "m", "dl", "util", "xnet"}, part)
}

// libraryDirs are the directories that a program interpreter looks into for
// every program of the image.
func (l *look) libraryDirs(interp string) []string {
	var dirs []string
	if list, ok := l.env("LD_LIBRARY_PATH"); ok {
		for _, dir := range strings.FieldsFunc(list, func(r rune) bool { return r == ':' || r == ';' }) {
			dirs = append(dirs, l.fromWorkdir(dir))
		}
	}
	if musl(interp) {
		return append(dirs, l.muslDirs(interp)...)
	}
	dirs = append(dirs, "/lib", "/usr/lib", "/lib64", "/usr/lib64")
	for _, dir := range []string{"/lib", "/usr/lib"} { // Debian's: /lib/x86_64-linux-gnu
		for _, name := range l.names(dir) {
			if strings.Contains(name, "-linux-") {
				dirs = append(dirs, path.Join(dir, name))
			}
		}
	}
	dirs = append(dirs, path.Dir(l.fromWorkdir(interp)))
	return append(dirs, l.configured("/etc/ld.so.conf", 0)...)
}

// muslDirs are those of /etc/ld-musl-ARCH.path, else the usual ones.
func (l *look) muslDirs(interp string) []string {
	name, _, _ := strings.Cut(path.Base(interp), ".so")
	if list, _ := l.text("/etc/" + name + ".path"); list != "" {
		return strings.FieldsFunc(list, func(r rune) bool { return r == ':' || r == '\n' })
	}
	return []string{"/lib", "/usr/local/lib", "/usr/lib"}
}

// maxIncludes is how deep files of ldconfig may include each other.
const maxIncludes = 4

// configured are the directories that a file of ldconfig lists, and those that
// it includes (ldconfig(8)). The cache that was made from them is not read.
func (l *look) configured(file string, depth int) (dirs []string) {
	list, _ := l.text(file)
	for line := range strings.Lines(list) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] != "include":
			dir, _, _ := strings.Cut(words[0], "=") // a type, which is obsolete
			dirs = append(dirs, dir)
		case depth < maxIncludes:
			for _, pattern := range words[1:] {
				dirs = append(dirs, l.included(file, pattern, depth)...)
			}
		}
	}
	return dirs
}

// included are the directories of the files that a pattern names, which is
// relative to the file that it stands in.
func (l *look) included(file, pattern string, depth int) (dirs []string) {
	if !path.IsAbs(pattern) {
		pattern = path.Join(path.Dir(file), pattern)
	}
	for _, name := range l.names(path.Dir(pattern)) {
		if ok, _ := path.Match(path.Base(pattern), name); ok {
			dirs = append(dirs, l.configured(path.Join(path.Dir(pattern), name), depth+1)...)
		}
	}
	return dirs
}

// runPath are the directories that a program or library names itself.
func (l *look) runPath(p string, program Program) (dirs []string) {
	origin := path.Dir(p)
	if at, err := l.tree.Resolve("/", p, true); err == nil {
		origin = path.Dir(at)
	}
	for _, list := range program.Search {
		for _, dir := range strings.Split(list, ":") {
			dir = strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(dir)
			for _, lib := range []string{"lib64", "lib"} {
				dirs = append(dirs, l.fromWorkdir(strings.NewReplacer("$LIB", lib, "${LIB}", lib).Replace(dir)))
			}
		}
	}
	return dirs
}
