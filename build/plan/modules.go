package plan

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// sources is where Go code that may be commands lies.
type sources struct {
	modules []goModule       // sorted by dir
	dirs    map[string]goDir // by slash path from the root
	skipped []Skipped        // what the go command passes over
}

// goModule is one Go module and what of it is looked at.
type goModule struct {
	dir      string // slash path from the root
	patterns []string
}

// goDir is a directory with Go files.
type goDir struct {
	module string   // directory of its module
	files  []string // those of programs, not of tests; sorted
}

// scan walks the repository once. Commands are below cmd/ of the root's module
// and of modules elsewhere, in modules below a cmd/, and in the root itself.
// Without any go.mod there are none.
func scan(root string) (sources, error) {
	s := sources{dirs: map[string]goDir{}}
	modules := map[string]bool{".": inModule(root)}
	fsys := os.DirFS(root)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return skipOf(d) // what cannot be read holds nothing that go could build
		case d.IsDir() && name != "." && hidden(d.Name()):
			if underCmd(name) && holdsGo(fsys, name) && d.Name() != "vendor" && d.Name() != "node_modules" {
				s.skipped = append(s.skipped, Skipped{Dir: name, Reason: "the go command passes over this name"})
			}
			return fs.SkipDir
		case d.Name() == "go.mod" && d.Type().IsRegular():
			modules[path.Dir(name)] = true
		case isSource(d):
			s.add(path.Dir(name), d.Name())
		}
		return nil
	})
	if err != nil {
		return sources{}, err
	}
	for dir, is := range modules {
		if is {
			s.modules = append(s.modules, goModule{dir: dir})
		}
	}
	slices.SortFunc(s.modules, func(a, b goModule) int { return strings.Compare(a.dir, b.dir) })
	s.assign()
	return s, nil
}

func skipOf(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// inModule reports whether the root belongs to a module: its own, or that of a
// directory above, up to where the repository begins.
func inModule(root string) bool {
	for dir := root; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return true
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return false
		}
	}
}

// underCmd reports whether a slash path is cmd or below one.
func underCmd(name string) bool { return slices.Contains(strings.Split(name, "/"), "cmd") }

func isSource(d fs.DirEntry) bool {
	name := d.Name()
	return !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}

func holdsGo(fsys fs.FS, dir string) bool {
	found := false
	_ = fs.WalkDir(fsys, dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && isSource(d) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func (s *sources) add(dir, file string) {
	d := s.dirs[dir]
	if !strings.HasSuffix(file, "_test.go") {
		d.files = append(d.files, file)
	}
	s.dirs[dir] = d
}

// assign gives every directory to the nearest module, drops those that hold no
// commands by rule, and decides what the go command is asked of each module.
func (s *sources) assign() {
	for dir, d := range s.dirs {
		i := s.nearest(dir)
		if i < 0 {
			delete(s.dirs, dir)
			continue
		}
		m := &s.modules[i]
		pattern := m.pattern(dir)
		if pattern == "" {
			delete(s.dirs, dir)
			continue
		}
		d.module = m.dir
		s.dirs[dir] = d
		if !slices.Contains(m.patterns, pattern) {
			m.patterns = append(m.patterns, pattern)
			slices.Sort(m.patterns)
		}
	}
}

func (s *sources) nearest(dir string) int {
	for ; ; dir = path.Dir(dir) {
		if i := slices.IndexFunc(s.modules, func(m goModule) bool { return m.dir == dir }); i >= 0 || dir == "." {
			return i
		}
	}
}

// pattern is what names dir to the go command run in m; "" where dir can hold
// no command.
func (m goModule) pattern(dir string) string {
	rel := dir
	if m.dir != "." {
		rel = strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/")
	}
	switch first, _, _ := strings.Cut(rel, "/"); {
	case m.dir != "." && underCmd(m.dir):
		return "./..."
	case first == "cmd":
		return "./cmd/..."
	case m.dir == "." && rel == ".":
		return "."
	}
	return ""
}
