package build

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// changers are what changes files, by package: a dry run must not come past any
// of it. Everything that outlasts a run goes through files.Disk instead, and
// images through what Project.dry makes of their repositories.
var changers = map[string][]string{
	"os": {
		"Chmod", "Chown", "Chtimes", "Create", "CreateTemp", "Lchown", "Link", "Mkdir", "MkdirAll", "MkdirTemp", "OpenFile", "OpenRoot",
		"Remove", "RemoveAll", "Rename", "Symlink", "Truncate", "WriteFile",
	},
	modulePath + "/build/files":    {"Replace", "Sweep"},
	modulePath + "/build/registry": {"OpenLayout"},
}

// mayChange says of a file, or a directory, why it may use which of them.
var mayChange = []struct {
	where, why string
	what       []string // empty is everything
}{
	{"build/files", "the seam itself", nil},
	{"build/cache", "a dry run has it read only, or tells what it would remove", nil},
	{"build/registry/faulty", "for tests", nil},
	{"build/image/parity", "for tests", nil},
	{"cmd/archmage-registry", "another program", nil},

	{"build/audit/sieve.go", "a temporary file", []string{"CreateTemp", "Remove"}},
	{"build/caches.go", "a temporary directory", []string{"MkdirTemp", "RemoveAll"}},
	{"build/config/git.go", "a temporary file", []string{"CreateTemp", "Remove"}},
	{"build/image/base.go", "below Blobs", []string{"CreateTemp", "Remove"}},
	{"build/image/blobs.go", "Blobs is a temporary directory", []string{"CreateTemp", "MkdirTemp", "OpenRoot", "Remove", "RemoveAll", "Rename"}},
	{"build/image/buildx.go", "below Blobs", []string{"Create"}},
	{"build/image/engine.go", "below Blobs", []string{"WriteFile"}},
	{"build/image/remote.go", "below Blobs", []string{"CreateTemp", "Remove"}},
	{"build/init_tools.go", "a temporary directory", []string{"MkdirTemp", "RemoveAll", "WriteFile"}},
	{"build/registry/sink.go", "a temporary file", []string{"CreateTemp", "Remove"}},
	{"build/rootfs/spool.go", "a temporary file", []string{"CreateTemp", "Remove"}},

	{"build/dockerfile/gateway.go", "reads", []string{"OpenRoot"}},
	{"build/project.go", "reads", []string{"OpenRoot"}},
	{"build/audit_refs.go", "reads", []string{"OpenLayout"}},
	{"build/complete.go", "reads", []string{"OpenLayout"}},
	{"build/ref.go", "reads", []string{"OpenLayout"}},

	{"build/compile/keep.go", "a dry run builds nothing, see foretell", nil},
	{"build/compile/place.go", "likewise", nil},
	{"build/fix_write.go", "replaceAll asks whether it is a dry run", []string{"CreateTemp", "Remove", "Rename"}},
	{"build/manifest.go", "wrapped on the spot", []string{"OpenLayout"}},
	{"build/registry/layout_blob.go", "a dry run wraps layouts", []string{"Replace"}},
	{"build/registry/layout_prune.go", "likewise", []string{"Remove", "Sweep"}},
	{"build/registry/layout_write.go", "likewise", []string{"MkdirAll", "Replace"}},
	{"build/image/layer.go", "likewise, into one", []string{"Link"}},
	{"build/registry/lock_unix.go", "likewise", []string{"MkdirAll", "OpenFile"}},
	{"build/registry/lock_windows.go", "likewise", []string{"MkdirAll", "OpenFile"}},
}

// TestChangesGoThroughTheSeam holds that a dry run cannot forget a file: whoever
// writes one anew uses files.Disk, or stands in the list with a reason.
func TestChangesGoThroughTheSeam(t *testing.T) {
	used := map[string]bool{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && outside(name) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		data, err := fs.ReadFile(os.DirFS(".."), name)
		for _, wrong := range changes(name, data, used) {
			t.Errorf("%s: a dry run would do it", wrong)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mayChange {
		if !used[m.where] {
			t.Errorf("%s may change files, and does not", m.where)
		}
	}
}

// changes lists where a file, named from the module's root, changes what it may
// not, and notes whose leave was used.
func changes(name string, source []byte, used map[string]bool) (wrong []string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	called := map[string]string{} // name in this file → path
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if as := path.Base(imported); spec.Name == nil {
			called[as] = imported
		} else {
			called[spec.Name.Name] = imported
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if ok && slices.Contains(changers[called[x.Name]], s.Sel.Name) && !leave(name, s.Sel.Name, used) {
			wrong = append(wrong, set.Position(s.Pos()).String()+" "+x.Name+"."+s.Sel.Name)
		}
		return true
	})
	return wrong
}

// leave reports whether a file may use one of the changers.
func leave(name, what string, used map[string]bool) bool {
	for _, m := range mayChange {
		if below(name, m.where) && (m.what == nil || slices.Contains(m.what, what)) {
			used[m.where] = true
			return true
		}
	}
	return false
}

func TestTheSeamCannotBePassedBy(t *testing.T) {
	for source, says := range map[string]string{
		"import \"os\"\nvar x = os.WriteFile":                                       "build/new.go:3:9 os.WriteFile",
		"import sys \"os\"\nvar x = sys.Remove":                                     "build/new.go:3:9 sys.Remove",
		"import \"" + modulePath + "/build/files\"\nvar x = files.Replace":          "build/new.go:3:9 files.Replace",
		"import \"" + modulePath + "/build/registry\"\nvar x = r.OpenLayout":        "",
		"import \"os\"\nvar x = os.ReadFile":                                        "",
		"import \"" + modulePath + "/build/registry\"\nvar x = registry.OpenLayout": "build/new.go:3:9 registry.OpenLayout",
	} {
		got := strings.Join(changes("build/new.go", []byte("package build\n"+source+"\n"), map[string]bool{}), "\n")
		if got != says {
			t.Errorf("%q: %q, want %q", source, got, says)
		}
	}
	if leave("build/ref.go", "WriteFile", map[string]bool{}) {
		t.Error("leave for one thing is leave for all")
	}
}
