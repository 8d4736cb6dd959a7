package rootfs

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// Editor makes a tree out of another. It clones what it touches, so the tree it
// began with, and every tree it has handed out, stay as they are. It is for one
// goroutine. Nothing here follows links: resolve paths first, else a link on
// the way is ENOTDIR.
//
// Hard links behave as on overlayfs: a file of a tree that is changed through
// one name leaves its other names behind; what this editor has changed or
// linked since the last call of Tree is one inode for all its names.
type Editor struct {
	tree Tree
	own  *token
}

var errRoot = errors.New("is the root")

// Edit starts to make a tree from t, which stays as it is.
func (t Tree) Edit() *Editor { return &Editor{tree: t, own: new(token)} }

// Tree is the tree as edited so far. Later edits do not change it.
func (e *Editor) Tree() Tree {
	e.own = new(token)
	return e.tree
}

// Lstat is [Tree.Lstat] on the tree as edited so far, as the methods below are.
// Unlike Tree, they cost no copies later.
func (e *Editor) Lstat(p string) (*Node, error) { return e.tree.Lstat(p) }

// Stat is [Tree.Stat].
func (e *Editor) Stat(p string) (*Node, error) { return e.tree.Stat(p) }

// Resolve is [Tree.Resolve].
func (e *Editor) Resolve(base, p string, last bool) (string, error) {
	return e.tree.Resolve(base, p, last)
}

// ReadDir is [Tree.ReadDir].
func (e *Editor) ReadDir(p string) ([]string, error) { return e.tree.ReadDir(p) }

// MkdirAll makes the directory p and its missing parents, with the permission
// bits of perm, no time, and owner o; nil is 0:0. Below a setgid directory a
// new one takes over the gid (which o, where given, sets after all) and the
// setgid bit, as Linux has it without a umask. A directory that is there stays
// as it is; anything else in the way is ENOTDIR.
func (e *Editor) MkdirAll(p string, perm fs.FileMode, o *Owner) error {
	p = clean(p)
	if n, err := e.Lstat(p); err == nil && n.IsDir() {
		return nil
	} else if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return pathError("mkdir", p, syscall.ENOTDIR)
	}
	dir := e.claimRoot()
	for rest := p[1:]; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if dir.kids[name] == nil {
			dir.set(name, newDir(dir, perm, o, e.own))
		}
		dir = e.claim(dir, name)
	}
	return nil
}

func newDir(parent *Node, perm fs.FileMode, o *Owner, own *token) *Node {
	n := &Node{Mode: fs.ModeDir | perm.Perm(), owner: own}
	if parent.Mode&fs.ModeSetgid != 0 {
		n.Mode |= fs.ModeSetgid
		n.GID = parent.GID
	}
	if o != nil {
		n.UID, n.GID = o.UID, o.GID
	}
	return n
}

// Put makes n what p names, in place of whatever was there, a whole directory
// included. The directory above p must exist. n belongs to the tree from then
// on: change it through Change only. Putting one node that is no directory at
// two names makes hard links; putting a directory shares what is below it.
func (e *Editor) Put(p string, n *Node) error {
	p = clean(p)
	if p == "/" {
		return pathError("put", p, errRoot)
	}
	if n.IsDir() && n.owner == e.own {
		e.own = new(token) // still reachable by its old name: both copy from now on
	}
	dir, err := e.dir("put", path.Dir(p))
	if err != nil {
		return err
	}
	dir.set(path.Base(p), n)
	return nil
}

// Remove removes p and everything below it. A p that is not there is
// [fs.ErrNotExist].
func (e *Editor) Remove(p string) error {
	p = clean(p)
	if p == "/" {
		return pathError("remove", p, errRoot)
	}
	if _, err := e.Lstat(p); err != nil {
		return err
	}
	dir, err := e.dir("remove", path.Dir(p))
	if err != nil {
		return err
	}
	delete(dir.kids, path.Base(p))
	return nil
}

// Change gives the node at p to be changed: everything but its type, and a
// directory's entries only through the editor. The pointer is good until the
// next edit. p may be the root.
func (e *Editor) Change(p string) (*Node, error) {
	p = clean(p)
	if _, err := e.Lstat(p); err != nil {
		return nil, err
	}
	if p == "/" {
		return e.claimRoot(), nil
	}
	dir, err := e.dir("change", path.Dir(p))
	if err != nil {
		return nil, err
	}
	return e.claim(dir, path.Base(p)), nil
}

// dir gives the directory p, a clean path, to be changed.
func (e *Editor) dir(verb, p string) (*Node, error) {
	if n, err := e.Lstat(p); err != nil {
		return nil, err
	} else if !n.IsDir() {
		return nil, pathError(verb, p, syscall.ENOTDIR)
	}
	dir := e.claimRoot()
	for rest := p[1:]; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		dir = e.claim(dir, name)
	}
	return dir, nil
}

func (e *Editor) claimRoot() *Node {
	if root := e.tree.top(); root.owner != e.own {
		e.tree.root = root.clone(e.own)
	}
	return e.tree.root
}

// claim gives the entry of that name in dir, which is e's own, to be changed.
func (e *Editor) claim(dir *Node, name string) *Node {
	n := dir.kids[name]
	if n.owner != e.own {
		n = n.clone(e.own)
		dir.kids[name] = n
	}
	return n
}

func (n *Node) set(name string, kid *Node) {
	if n.kids == nil {
		n.kids = map[string]*Node{}
	}
	n.kids[name] = kid
}
