// Package rootfs holds file trees made of layers, and the layer that a file
// operation adds to one.
//
// A [Tree] is a value: it never changes, costs a pointer, and may be used from
// any number of goroutines. An [Editor] makes a new tree from an old one and
// copies only the directories it touches, so a stage, a base that several legs
// share and every step in between cost nothing. A layer is what [Diff] finds
// between two trees, and equal pointers end its search early; [Tree.Apply] lays
// a layer over a tree. No path of the host is ever followed: every symbolic
// link resolves inside the tree that holds it.
package rootfs

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// Node is one file, directory, link or device of a tree. It may be changed only
// by who made it, until it is handed to [Editor.Put], or by who got it from
// [Editor.Change], until the next edit of the same editor. Two names of one
// tree that hold one *Node are hard links; a copy needs a Node of its own.
type Node struct {
	Mode         fs.FileMode // type, permissions, setuid, setgid and sticky bits
	UID, GID     int
	ModTime      time.Time // the zero time has no opinion: WriteLayer chooses
	Link         string    // a symbolic link's target, as written
	Major, Minor int64     // of a device
	Size         int64     // of a regular file, in bytes
	Data         Content   // of a regular file; nil is an empty one
	Cap          []byte    // security.capability, the one extended attribute that a layer carries; replaced, never written into

	kids  map[string]*Node // of a directory; nil is an empty one
	owner *token           // the editing session that made this copy and may change it; nil once shared
}

// token stands for the time between two freezes of an editor. It has a size, so
// that two tokens never share an address.
type token struct{ _ byte }

// Content is where the bytes of a regular file come from. Every Open starts at
// the first byte. Two contents that are equal by == must hold equal bytes: Diff
// leaves a file out by that. Open may be called concurrently.
type Content interface {
	Open() (io.ReadCloser, error)
}

// Bytes is a content in memory. It must not change.
type Bytes []byte

// Open implements [Content].
func (b Bytes) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

// special are the permission bits that have a meaning beyond rwx.
const special = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// IsDir reports whether n is a directory; nil is none.
func (n *Node) IsDir() bool { return n != nil && n.Mode.IsDir() }

// IsLink reports whether n is a symbolic link; nil is none.
func (n *Node) IsLink() bool { return n != nil && n.Mode.Type() == fs.ModeSymlink }

// Child is the entry of that name, nil where there is none or n is no directory.
func (n *Node) Child(name string) *Node {
	if n == nil {
		return nil
	}
	return n.kids[name]
}

// Names lists a directory's entries, sorted.
func (n *Node) Names() []string {
	if n == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.kids))
}

// open is the content of a regular file; the caller has checked that it is one.
func (n *Node) open() (io.ReadCloser, error) {
	if n.Data == nil {
		return Bytes(nil).Open()
	}
	return n.Data.Open()
}

// clone is a copy that the holder of t may change. It shares the children.
func (n *Node) clone(t *token) *Node {
	c := *n
	c.kids, c.owner = maps.Clone(n.kids), t
	return &c
}

// like takes the attributes that a header sets: permissions, owner, time and
// capability. Type, content and children stay.
func (n *Node) like(from *Node) {
	n.Mode = n.Mode.Type() | from.Mode&(fs.ModePerm|special)
	n.UID, n.GID, n.ModTime, n.Cap = from.UID, from.GID, from.ModTime, from.Cap
}
