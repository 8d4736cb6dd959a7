package rootfs

import (
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// chroot walks paths inside a directory of a tree as the kernel would for a
// process confined to it. Resolve is more lenient: it lets parts be missing.
type chroot struct {
	e    *Editor
	base string
}

// maxKernelLinks is Linux's MAXSYMLINKS.
const maxKernelLinks = 40

// find gives the path in the tree of what p names, and its node, nil where only
// the last name is missing. A link at the end is followed if asked for.
func (c chroot) find(p string, follow bool) (string, *Node, error) {
	w, err := c.walk(p, follow, nil)
	if err != nil {
		return "", nil, err
	}
	return w.path(), w.top(), nil
}

// mkdirAll makes the directory p and what is missing above. A link that leads
// nowhere is in the way. count is asked before each directory is made.
func (c chroot) mkdirAll(p string, count func(text int) error) error {
	w, err := c.walk(p, true, func(w *walker) error {
		if err := count(len(w.path())); err != nil {
			return err
		}
		return c.e.MkdirAll(w.path(), 0o755, &Owner{})
	})
	if err == nil && !w.top().IsDir() {
		err = pathError("mkdir", p, syscall.ENOTDIR)
	}
	return err
}

// walker is where a walk has come to: the names below base, and the node of
// base and of each of them.
type walker struct {
	base  string
	names []string
	nodes []*Node
}

func (w *walker) top() *Node { return w.nodes[len(w.nodes)-1] }

func (w *walker) path() string { return path.Join(w.base, strings.Join(w.names, "/")) }

// walk goes to p. create, where given, makes the directory at the end of a walk
// that came to a missing name of p itself; without it, only the last name may
// be missing.
func (c chroot) walk(p string, follow bool, create func(*walker) error) (*walker, error) {
	base, err := c.e.Lstat(c.base)
	if err != nil {
		return nil, err
	}
	w := &walker{base: c.base, nodes: []*Node{base}}
	rest := strings.Split(strings.Trim(p, "/"), "/")
	own, links := len(rest), 0 // of rest, how many names are p's, not a link's
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		fromLink := len(rest) >= own
		own = min(own, len(rest))
		if !w.top().IsDir() {
			return nil, pathError("open", p, syscall.ENOTDIR)
		}
		switch name {
		case "", ".":
			continue
		case "..":
			if n := len(w.names); n > 0 {
				w.names, w.nodes = w.names[:n-1], w.nodes[:n]
			}
			continue
		}
		kid := w.top().Child(name)
		if kid.IsLink() && (follow || len(rest) > 0) {
			if links++; links > maxKernelLinks {
				return nil, pathError("open", p, syscall.ELOOP)
			}
			if path.IsAbs(kid.Link) {
				w.names, w.nodes = w.names[:0], w.nodes[:1]
			}
			rest = append(strings.Split(strings.TrimPrefix(kid.Link, "/"), "/"), rest...)
			continue
		}
		w.names, w.nodes = append(w.names, name), append(w.nodes, kid)
		switch {
		case kid != nil:
		case create != nil && !fromLink:
			if err := create(w); err != nil {
				return nil, err
			}
			if w.nodes[len(w.nodes)-1], err = c.e.Lstat(w.path()); err != nil {
				return nil, err
			}
		case create != nil:
			return nil, pathError("mkdir", p, fs.ErrExist)
		case len(rest) > 0:
			return nil, pathError("open", p, syscall.ENOENT)
		}
	}
	return w, nil
}
