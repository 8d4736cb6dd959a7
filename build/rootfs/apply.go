package rootfs

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Apply lays a layer over t, as containerd's overlay snapshotter does:
//
//   - whiteouts and opaque marks hide what t has, never what the layer has,
//     whatever the order of the entries;
//   - a directory keeps the entries that t has in it, everything else replaces
//     what is there, directories included;
//   - a link of t in the place of an entry's directory is not followed but
//     replaced by a directory with the attributes of the one it leads to, and a
//     file is replaced too;
//   - directories above an entry that neither t nor the layer has are 0755 and
//     belong to root, below a setgid directory to its group.
//
// Entries of the root count for their opaque mark alone. The entries' nodes
// become part of the tree, directories excepted.
func (t Tree) Apply(entries []Entry) (Tree, error) {
	l := overlay{t, t.Edit()}
	for _, x := range sortEntries(entries) {
		if err := l.lay(x); err != nil {
			return Tree{}, fmt.Errorf("apply layer: %w", err)
		}
	}
	return l.edit.Tree(), nil
}

type overlay struct {
	lower Tree
	edit  *Editor
}

func (l overlay) lay(x Entry) error {
	p := clean(x.Path)
	if p == "/" {
		if x.Opaque {
			l.edit.claimRoot().kids = nil
		}
		return nil
	}
	if x.Opaque && x.Node != nil && !x.Node.IsDir() {
		return pathError("lay", p, fmt.Errorf("opaque, but no directory"))
	}
	switch {
	case x.Opaque || x.Node.IsDir():
		n := l.dir(p)
		if x.Node != nil {
			n.like(x.Node)
		}
		if x.Opaque {
			n.kids = nil
		}
	case x.Node == nil:
		delete(l.dir(path.Dir(p)).kids, path.Base(p))
	default:
		l.dir(path.Dir(p)).set(path.Base(p), x.Node)
	}
	return nil
}

// dir gives the directory p of the layer to be changed, whatever t has there.
func (l overlay) dir(p string) *Node {
	dir := l.edit.claimRoot()
	for end := 0; end < len(p)-1; {
		start := end + 1
		if end = strings.IndexByte(p[start:], '/') + start; end < start {
			end = len(p)
		}
		name := p[start:end]
		if !dir.kids[name].IsDir() {
			dir.set(name, l.implied(dir, p[:end]))
		}
		dir = l.edit.claim(dir, name)
	}
	return dir
}

// implied is a directory that the layer needs and does not list (if it does,
// its entry sets the attributes after all). containerd takes the attributes of
// the directory that the path leads to in the lower layers, links followed and
// whatever the layer hides; measured against its overlay snapshotter.
func (l overlay) implied(parent *Node, p string) *Node {
	n := newDir(parent, 0o755, nil, l.edit.own)
	n.Mode &^= fs.ModeSetgid // containerd sets the mode once more after mkdir
	if below, err := l.lower.Stat(p); err == nil && below.IsDir() {
		n.like(below)
	}
	return n
}
