package rootfs

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
)

// Entry is one line of a layer. Its Path is absolute and clean, and free of
// links in the tree that the layer makes.
//
//	Node  Opaque
//	nil   false   a whiteout: what lower layers have at Path is gone
//	set   false   a file; or a directory, whose lower entries stay
//	set   true    a directory whose lower entries are gone
//	nil   true    the same, with the lower directory's attributes
//
// Names of one layer that hold one *Node are hard links. The children of a
// directory's Node do not count: each has an entry of its own.
type Entry struct {
	Path   string
	Node   *Node
	Opaque bool
}

// What marks a deletion in a layer's tar, from the OCI image spec, "Whiteouts".
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// Section is the place of a regular file's bytes in an uncompressed layer, and
// a [Content] that cannot be opened before [Bind] has said where that layer is.
// Off -1 is a sparse file, which is not stored in one piece and never opens.
// It is used by pointer, since equal places in two layers hold different bytes.
type Section struct{ Off, Size int64 }

// Open implements [Content]: it fails.
func (s *Section) Open() (io.ReadCloser, error) {
	if s.Off < 0 {
		return nil, errors.New("sparse files in layers are not read")
	}
	return nil, errors.New("the layer is not at hand")
}

// Bind gives entries whose sections are what data makes of them; data is called
// once for each inode that has bytes. The entries given stay as they are.
func Bind(entries []Entry, data func(off, size int64) Content) []Entry {
	bound := slices.Clone(entries)
	done := map[*Node]*Node{} // keeps hard links
	for i, x := range bound {
		if x.Node == nil {
			continue
		}
		s, ok := x.Node.Data.(*Section)
		if !ok || s.Off < 0 {
			continue
		}
		n := done[x.Node]
		if n == nil {
			n = x.Node.clone(nil)
			n.Data = data(s.Off, s.Size)
			done[x.Node] = n
		}
		bound[i].Node = n
	}
	return bound
}

// bare is the directory n without its entries.
func (n *Node) bare() *Node {
	c := *n
	c.kids, c.owner = nil, nil
	return &c
}

// sortEntries gives entries in the order of a layer. What is sorted already is
// not copied; of equal paths the last one stays last.
func sortEntries(entries []Entry) []Entry {
	order := func(a, b Entry) int { return comparePaths(a.Path, b.Path) }
	if slices.IsSortedFunc(entries, order) {
		return entries
	}
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, order)
	return entries
}

// comparePaths orders paths as a walk meets them: name by name, so that a
// directory is followed by all that is in it.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch x, y := a[i], b[i]; {
		case x == y:
		case x == '/':
			return -1
		case y == '/':
			return 1
		default:
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}

// inside reports whether p is dir or below it.
func inside(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}
