package rootfs

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
)

func TestEditorLeavesItsOriginAlone(t *testing.T) {
	base := specTree(t, "/a/", "/a/b/", "/a/b/f = old", "/z = z")
	before := specText(t, base)
	e := base.Edit()
	must(t, e.Put("/a/b/f", &Node{Mode: 0o600}))
	must(t, e.Remove("/z"))
	n, err := e.Change("/a")
	must(t, err)
	n.UID = 7
	root, err := e.Change("/")
	must(t, err)
	root.Mode = fs.ModeDir | 0o700
	middle := e.Tree()
	after := specText(t, middle)
	must(t, e.Put("/later", &Node{Mode: 0o644}))
	n, err = e.Change("/a/b/f")
	must(t, err)
	n.UID = 9

	specCheck(t, specText(t, base), "/a/", "/a/b/", "/a/b/f = old", "/z = z")
	if specText(t, base) != before || specText(t, middle) != after {
		t.Error("a tree changed after it was handed out")
	}
	specCheck(t, after, "/a/ 7:0", "/a/b/", "/a/b/f 600")
	if n, _ := base.Lstat("/"); n.Mode.Perm() != 0o755 {
		t.Error("the root of the origin changed")
	}
	if specText(t, Tree{}) != "" {
		t.Error("the empty tree changed")
	}
}

func TestMkdirAll(t *testing.T) {
	owner := &Owner{UID: 5, GID: 6}
	for _, c := range []struct {
		name  string
		base  []string
		path  string
		perm  fs.FileMode
		owner *Owner
		want  []string
	}{
		{"new ones", nil, "/a/b", 0o755, nil, []string{"/a/", "/a/b/"}},
		{"mode and owner on every new one", nil, "a/b/", 0o711, owner, []string{"/a/ 711 5:6", "/a/b/ 711 5:6"}},
		{"only permission bits", nil, "/a", fs.ModeSetuid | fs.ModeSticky | 0o777, nil, []string{"/a/ 777"}},
		{"existing ones stay", []string{"/a/ 700 1:2"}, "/a/b", 0o755, owner, []string{"/a/ 700 1:2", "/a/b/ 5:6"}},
		{"nothing to do", []string{"/a/ 700 1:2"}, "/a", 0o755, owner, []string{"/a/ 700 1:2"}},
		{"the root", nil, "/", 0o700, owner, nil},
		{"setgid is inherited", []string{"/a/ 2770 1:2"}, "/a/b/c", 0o755, nil, []string{"/a/ 2770 1:2", "/a/b/ 2755 0:2", "/a/b/c/ 2755 0:2"}},
		{"an owner beats the inherited gid", []string{"/a/ 2770 1:2"}, "/a/b/c", 0o750, owner, []string{"/a/ 2770 1:2", "/a/b/ 2750 5:6", "/a/b/c/ 2750 5:6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := specTree(t, c.base...).Edit()
			must(t, e.MkdirAll(c.path, c.perm, c.owner))
			specCheck(t, specText(t, e.Tree()), c.want...)
		})
	}
}

func TestMkdirAllThroughAFileIsAnError(t *testing.T) {
	e := specTree(t, "/f = x", "/l -> /d", "/d/").Edit()
	for _, p := range []string{"/f", "/f/x", "/l", "/l/x"} {
		if err := e.MkdirAll(p, 0o755, nil); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("MkdirAll(%s) = %v", p, err)
		}
	}
	specCheck(t, specText(t, e.Tree()), "/d/", "/f = x", "/l -> /d")
}

func TestMkdirAllOfWhatIsThereCopiesNothing(t *testing.T) {
	base := specTree(t, "/a/", "/a/b/")
	e := base.Edit()
	must(t, e.MkdirAll("/a/b", 0o700, nil))
	if e.Tree() != base {
		t.Error("the tree was copied")
	}
}

func TestPutReplacesAnything(t *testing.T) {
	base := []string{"/d/", "/d/x = 1", "/f = 2", "/l -> d"}
	for _, c := range []struct {
		put  string
		want []string
	}{
		{"/d = file", []string{"/d = file", "/f = 2", "/l -> d"}},
		{"/d/ 700", []string{"/d/ 700", "/f = 2", "/l -> d"}},
		{"/f/ 700", []string{"/d/", "/d/x = 1", "/f/ 700", "/l -> d"}},
		{"/l = file", []string{"/d/", "/d/x = 1", "/f = 2", "/l = file"}},
		{"/d/y -> x", []string{"/d/", "/d/x = 1", "/d/y -> x", "/f = 2", "/l -> d"}},
	} {
		specCheck(t, specText(t, specEdit(t, specTree(t, base...), c.put)), c.want...)
	}
}

func TestEditsThatCannotBe(t *testing.T) {
	e := specTree(t, "/d/", "/f = 2", "/l -> d").Edit()
	change := func(p string) error { _, err := e.Change(p); return err }
	put := func(p string) error { return e.Put(p, &Node{}) }
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"put below nothing", put("/no/x"), fs.ErrNotExist},
		{"put below a file", put("/f/x"), syscall.ENOTDIR},
		{"put below a link", put("/l/x"), syscall.ENOTDIR},
		{"put the root", put("/"), errRoot},
		{"remove nothing", e.Remove("/no"), fs.ErrNotExist},
		{"remove below a link", e.Remove("/l/x"), syscall.ENOTDIR},
		{"remove the root", e.Remove("/"), errRoot},
		{"change nothing", change("/no"), fs.ErrNotExist},
		{"change below a file", change("/f/x"), syscall.ENOTDIR},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, c.err, c.want)
		}
	}
}

func TestChangingAHardLinkBreaksItOff(t *testing.T) {
	base := specTree(t, "/a = x", "/b == /a", "/c == /a")
	e := base.Edit()
	n, err := e.Change("/b")
	must(t, err)
	n.UID = 3
	specCheck(t, specText(t, e.Tree()), "/a = x", "/b 3:0 = x", "/c == /a")
	specCheck(t, specText(t, base), "/a = x", "/b == /a", "/c == /a")
}

func TestWhatThisEditorLinkedIsOneInode(t *testing.T) {
	e := specTree(t, "/a = x").Edit()
	n, err := e.Change("/a")
	must(t, err)
	must(t, e.Put("/b", n))
	n, err = e.Change("/b")
	must(t, err)
	n.UID = 3
	specCheck(t, specText(t, e.Tree()), "/a 3:0 = x", "/b == /a")
	n, err = e.Change("/b")
	must(t, err)
	n.UID = 4
	specCheck(t, specText(t, e.Tree()), "/a 3:0 = x", "/b 4:0 = x")
}

func TestADirectoryPutTwiceIsTwoDirectories(t *testing.T) {
	e := Tree{}.Edit()
	must(t, e.MkdirAll("/a/sub", 0o755, nil))
	for _, to := range []string{"/a/sub/a", "/b"} { // into itself, and beside
		n, err := e.Lstat("/a")
		must(t, err)
		must(t, e.Put(to, n))
	}
	must(t, e.Put("/a/only", &Node{Mode: 0o644}))
	specCheck(t, specText(t, e.Tree()), "/a/", "/a/only", "/a/sub/", "/a/sub/a/", "/a/sub/a/sub/",
		"/b/", "/b/sub/", "/b/sub/a/", "/b/sub/a/sub/")
}
