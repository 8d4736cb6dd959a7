package rootfs

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestDiff(t *testing.T) {
	base := []string{"/a/", "/a/b/", "/a/b/f = 1", "/a/g = 2", "/l -> a", "/z = 3"}
	for _, c := range []struct {
		name  string
		edits []string
		want  []string
	}{
		{"nothing", nil, nil},
		{"a file brings its parents", []string{"/a/b/new = x"}, []string{"/a/", "/a/b/", "/a/b/new = x"}},
		{
			"a parent has the result's attributes",
			[]string{"/a/ 700 1:2", "/a/x = x"},
			[]string{"/a/ 700 1:2", "whiteout /a/b", "whiteout /a/g", "/a/x = x"},
		},
		{"a file at the top", []string{"/a.txt = x"}, []string{"/a.txt = x"}},
		{
			"order is name by name",
			[]string{"/a.txt = x", "/a/b.txt = y", "/a/b/y = z"},
			[]string{"/a/", "/a/b/", "/a/b/y = z", "/a/b.txt = y", "/a.txt = x"},
		},
		{"a removed file", []string{"- /a/b/f"}, []string{"/a/", "/a/b/", "whiteout /a/b/f"}},
		{"a removed directory is one whiteout", []string{"- /a"}, []string{"whiteout /a"}},
		{"a file for a directory needs no whiteout", []string{"/a = f"}, []string{"/a = f"}},
		{"a link for a directory", []string{"/a -> z"}, []string{"/a -> z"}},
		{"a directory for a file", []string{"/z/", "/z/q = 1"}, []string{"/z/", "/z/q = 1"}},
		{"a directory for a link", []string{"/l/"}, []string{"/l/"}},
		{"a directory made again, the same", []string{"- /a/b", "/a/b/"}, []string{"/a/", "/a/b/", "whiteout /a/b/f"}},
		{
			"a directory made again with something else",
			[]string{"- /a", "/a/", "/a/h = 1"},
			[]string{"/a/", "whiteout /a/b", "whiteout /a/g", "/a/h = 1"},
		},
		{"content", []string{"/z = 4"}, []string{"/z = 4"}},
		{"owner", []string{"/z 0:1 = 3"}, []string{"/z 0:1 = 3"}},
		{"link target", []string{"/l -> b"}, []string{"/l -> b"}},
		{"hard links", []string{"/y = n", "/x == /y"}, []string{"/x = n", "/y == /x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lower := specTree(t, base...)
			specCheck(t, specEntries(t, Diff(lower, specEdit(t, lower, c.edits...))), c.want...)
		})
	}
}

func TestDiffOfDirectoryAttributes(t *testing.T) {
	lower := specTree(t, "/a/", "/a/f = 1")
	change := func(do func(*Node)) string {
		e := lower.Edit()
		n, err := e.Change("/a")
		must(t, err)
		do(n)
		return specEntries(t, Diff(lower, e.Tree()))
	}
	specCheck(t, change(func(n *Node) { n.ModTime = time.Unix(9, 0) }))
	specCheck(t, change(func(n *Node) { n.Mode ^= 0o1 }), "/a/ 754")
	specCheck(t, change(func(n *Node) { n.GID = 2 }), "/a/ 0:2")

	e := lower.Edit()
	root, err := e.Change("/")
	must(t, err)
	root.Mode ^= 0o1
	specCheck(t, specEntries(t, Diff(lower, e.Tree())))
}

// content is comparable, as the contents of context files and layers are.
type content struct{ text string }

func (c content) Open() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(c.text)), nil }

// counted is comparable by address and counts how often it was read.
type counted struct {
	content
	opened int
}

func (c *counted) Open() (io.ReadCloser, error) { c.opened++; return c.content.Open() }

func TestDiffLeavesOutWhatIsCopiedAgain(t *testing.T) {
	data := &counted{content: content{"abc"}}
	file := func(data Content, at time.Time, size int64) *Node {
		return &Node{Mode: 0o755, Data: data, Size: size, ModTime: at}
	}
	old := file(data, time.Time{}, 3)
	for _, c := range []struct {
		name string
		node *Node
		same bool
	}{
		{"the same object", file(data, time.Time{}, 3), true},
		{"other bytes of the same length", file(&counted{content: content{"abd"}}, time.Time{}, 3), false},
		{"another time", file(data, time.Unix(1, 0), 3), false},
		{"a type without ==", file(Bytes("abc"), time.Time{}, 3), false},
	} {
		lower, upper := Tree{}.Edit(), Tree{}.Edit()
		must(t, lower.Put("/f", old))
		must(t, upper.Put("/f", c.node))
		if got := len(Diff(lower.Tree(), upper.Tree())) == 0; got != c.same {
			t.Errorf("%s: left out is %v", c.name, got)
		}
	}
	if data.opened > 0 {
		t.Error("Diff has read a file")
	}
	equal := specTree(t, "/empty", "/l -> x")
	specCheck(t, specEntries(t, Diff(equal, specTree(t, "/empty", "/l -> x"))))

	bytes := specTree(t, "/f = abc")
	if got := Diff(bytes, specTree(t, "/f = abc")); len(got) != 1 {
		t.Errorf("contents without == must be listed, got %v", got)
	}
}

func TestDiffDoesNotEnterWhatIsShared(t *testing.T) {
	lower := specTree(t, "/a/", "/a/f = 1", "/b/")
	upper := specEdit(t, lower, "/b/x = 1")
	below, _ := lower.Lstat("/a")
	above, _ := upper.Lstat("/a")
	if below != above {
		t.Fatal("an edit beside /a has copied it")
	}
	d := differ{}
	if d.entry("/a", below, above); len(d.entries) > 0 {
		t.Error("a directory differs from itself")
	}
	specCheck(t, specEntries(t, Diff(lower, upper)), "/b/", "/b/x = 1")
}
