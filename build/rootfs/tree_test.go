package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"syscall"
	"testing"
)

func TestZeroTreeIsAnEmptyRoot(t *testing.T) {
	n, err := Tree{}.Lstat("/")
	must(t, err)
	if !n.IsDir() || n.Mode.Perm() != 0o755 || n.UID != 0 || n.GID != 0 {
		t.Errorf("root of the zero tree is %+v", n)
	}
	specCheck(t, specText(t, Tree{}))
}

func TestLstatFollowsNothing(t *testing.T) {
	tree := specTree(t, "/d/", "/d/f = x", "/l -> d", "/f = y")
	for _, c := range []struct {
		path string
		want error
	}{
		{"/d/f", nil},
		{"d/f", nil},
		{"/d/", nil},
		{"", nil},
		{"/../d/./f", nil},
		{"/l", nil},
		{"/no", fs.ErrNotExist},
		{"/d/no/x", fs.ErrNotExist},
		{"/l/f", syscall.ENOTDIR},
		{"/f/x", syscall.ENOTDIR},
	} {
		if _, err := tree.Lstat(c.path); !errors.Is(err, c.want) {
			t.Errorf("Lstat(%q) = %v, want %v", c.path, err, c.want)
		}
	}
}

func TestOpenFollowsLinksInsideTheTree(t *testing.T) {
	tree := specTree(t, "/etc/", "/usr/", "/usr/lib/", "/usr/lib/passwd = root", "/etc/passwd -> ../../usr/lib/passwd", "/abs -> /etc/passwd", "/empty", "/dang -> /no", "/loop -> loop")
	for p, want := range map[string]string{"/etc/passwd": "root", "/abs": "root", "/empty": ""} {
		r, err := tree.Open(p)
		must(t, err)
		got, err := io.ReadAll(r)
		must(t, err)
		if string(got) != want {
			t.Errorf("Open(%s) reads %q, want %q", p, got, want)
		}
	}
	for p, want := range map[string]error{"/etc": ErrNotRegular, "/dang": fs.ErrNotExist, "/loop": ErrTooManyLinks} {
		if _, err := tree.Open(p); !errors.Is(err, want) {
			t.Errorf("Open(%s) = %v, want %v", p, err, want)
		}
	}
}

func TestWalkIsSortedNameByName(t *testing.T) {
	tree := specTree(t, "/b/", "/b/x", "/b.txt", "/a", "/b/a/", "/b/a/z", "/b-")
	var got []string
	must(t, tree.Walk("/", func(p string, _ *Node) error { got = append(got, p); return nil }))
	if want := "[/ /a /b /b/a /b/a/z /b/x /b- /b.txt]"; fmt.Sprint(got) != want {
		t.Errorf("walked %v, want %s", got, want)
	}
	got = nil
	must(t, tree.Walk("/", func(p string, _ *Node) error {
		got = append(got, p)
		switch p {
		case "/b":
			return fs.SkipDir
		case "/b-":
			return fs.SkipAll
		}
		return nil
	}))
	if want := "[/ /a /b /b-]"; fmt.Sprint(got) != want {
		t.Errorf("walked %v, want %s", got, want)
	}
	stop := errors.New("stop")
	if err := tree.Walk("/", func(string, *Node) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Walk = %v, want fn's error", err)
	}
	names, err := tree.ReadDir("/b")
	must(t, err)
	if fmt.Sprint(names) != "[a x]" {
		t.Errorf("ReadDir = %v", names)
	}
	if _, err := tree.ReadDir("/a"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("ReadDir of a file = %v", err)
	}
}

// Run with -race: whatever legs do with one base, they do at once.
func TestOneTreeServesManyGoroutines(t *testing.T) {
	base := specTree(t, "/a/", "/a/f = 1", "/a/g == /a/f", "/l -> a")
	layer := Diff(Tree{}, base)
	want := specText(t, base)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			e := base.Edit()
			n, err := e.Change("/a/f")
			if err != nil {
				t.Error(err)
				return
			}
			n.UID = i
			dir := fmt.Sprintf("/a/new%d", i)
			err = errors.Join(e.MkdirAll(dir, 0o755, nil), e.Put(dir+"/x", &Node{}), e.Remove("/l"))
			mine := e.Tree()
			again, applyErr := mine.Apply(layer)
			_, openErr := again.Open("/l/f")
			if err := errors.Join(err, applyErr, openErr); err != nil {
				t.Error(err)
			}
			if len(Diff(base, mine)) == 0 {
				t.Error("no difference after an edit")
			}
		})
	}
	group.Wait()
	if got := specText(t, base); got != want {
		t.Errorf("the shared tree changed to:\n%s", got)
	}
}
