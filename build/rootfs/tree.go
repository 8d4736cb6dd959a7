package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// Tree is a file tree. The zero value is the empty one: a root of 0755 that
// belongs to 0:0. Paths are slash separated; a leading slash may be left out,
// and `..` stops at the root. Errors are *[fs.PathError]: a missing name is
// [fs.ErrNotExist], a path through anything but a directory is ENOTDIR.
type Tree struct{ root *Node }

var empty = &Node{Mode: fs.ModeDir | 0o755}

func (t Tree) top() *Node {
	if t.root == nil {
		return empty
	}
	return t.root
}

// clean is p as the trees spell it: absolute, without `.`, `..` and doubled or
// trailing slashes.
func clean(p string) string {
	if p != "" && p[0] == '/' {
		return path.Clean(p)
	}
	return path.Clean("/" + p)
}

// join appends one name to a clean directory.
func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

func pathError(verb, p string, err error) error {
	return &fs.PathError{Op: verb, Path: p, Err: err}
}

// Lstat is the node at p. No link is followed, not even on the way: resolve
// first.
func (t Tree) Lstat(p string) (*Node, error) {
	p = clean(p)
	n := t.top()
	for rest := p[1:]; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if !n.IsDir() {
			return nil, pathError("lstat", p, syscall.ENOTDIR)
		}
		if n = n.kids[name]; n == nil {
			return nil, pathError("lstat", p, fs.ErrNotExist)
		}
	}
	return n, nil
}

// Stat is the node that p leads to, through every link on the way.
func (t Tree) Stat(p string) (*Node, error) {
	to, err := t.Resolve("/", p, true)
	if err != nil {
		return nil, err
	}
	return t.Lstat(to)
}

// ErrNotRegular says that a path names something that has no content.
var ErrNotRegular = errors.New("not a regular file")

// Open reads the regular file that p leads to, through every link on the way,
// inside the tree. Anything else is [ErrNotRegular].
func (t Tree) Open(p string) (io.ReadCloser, error) {
	n, err := t.Stat(p)
	if err != nil {
		return nil, err
	}
	if !n.Mode.IsRegular() {
		return nil, pathError("open", clean(p), ErrNotRegular)
	}
	r, err := n.open()
	if err != nil {
		return nil, pathError("open", clean(p), err)
	}
	return r, nil
}

// ReadDir lists the names in the directory p, sorted. No link is followed.
func (t Tree) ReadDir(p string) ([]string, error) {
	n, err := t.Lstat(p)
	if err != nil {
		return nil, err
	}
	if !n.IsDir() {
		return nil, pathError("readdir", clean(p), syscall.ENOTDIR)
	}
	return n.Names(), nil
}

// Walk calls fn for p and for everything below it, each directory before its
// entries, entries by name. No link is followed. It ends with the first error
// of fn, but for [fs.SkipDir], which leaves out what is below a directory, and
// [fs.SkipAll], which ends the walk without an error.
func (t Tree) Walk(p string, fn func(p string, n *Node) error) error {
	n, err := t.Lstat(p)
	if err != nil {
		return err
	}
	if err := walk(clean(p), n, fn); err != nil && !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

func walk(p string, n *Node, fn func(string, *Node) error) error {
	if err := fn(p, n); err != nil {
		if n.IsDir() && errors.Is(err, fs.SkipDir) {
			return nil
		}
		return err
	}
	for _, name := range n.Names() {
		if err := walk(join(p, name), n.kids[name], fn); err != nil {
			return err
		}
	}
	return nil
}
