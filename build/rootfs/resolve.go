package rootfs

import (
	"bytes"
	"errors"
	"path"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links one path may lead through, as in
// continuity's RootPath, which BuildKit resolves with.
const maxLinks = 255

// ErrTooManyLinks says that a path leads through more than 255 symbolic links,
// which is what a loop does.
var ErrTooManyLinks = errors.New("too many links")

// Resolve gives the path of the tree that p leads to, free of links, `.` and
// `..`. base is a chroot: absolute links start there, and `..` stops there;
// base itself is taken as it is. With last, a link at the end is followed too,
// otherwise the answer may name one. Parts that are missing are kept as
// written, so a dangling link resolves to where it points; a file on the way is
// ENOTDIR, and a loop [ErrTooManyLinks].
func (t Tree) Resolve(base, p string, last bool) (string, error) {
	base = clean(base)
	start, _ := t.Lstat(base) // a missing base has missing parts only
	walker := resolver{base: strings.TrimSuffix(base, "/"), nodes: []*Node{start}}
	if err := walker.walk(p, last); err != nil {
		return "", pathError("resolve", p, err)
	}
	if len(walker.path) == 0 {
		return base, nil
	}
	return walker.base + string(walker.path), nil
}

// resolver is at a place of the tree: nodes are base and every directory down
// to it, nil where missing, and path has one name for each but the first.
type resolver struct {
	base  string
	path  []byte
	nodes []*Node
	links int
}

func (r *resolver) walk(rest string, last bool) error {
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			r.up()
			continue
		}
		dir := r.nodes[len(r.nodes)-1]
		if dir != nil && !dir.IsDir() {
			return syscall.ENOTDIR
		}
		kid := dir.Child(name)
		if !kid.IsLink() || !last && strings.Trim(rest, "/") == "" {
			r.down(name, kid)
			continue
		}
		if r.links++; r.links > maxLinks {
			return ErrTooManyLinks
		}
		if path.IsAbs(kid.Link) {
			r.path, r.nodes = r.path[:0], r.nodes[:1]
		}
		rest = kid.Link + "/" + rest
	}
	return nil
}

func (r *resolver) down(name string, n *Node) {
	r.path = append(append(r.path, '/'), name...)
	r.nodes = append(r.nodes, n)
}

func (r *resolver) up() {
	if len(r.nodes) > 1 {
		r.path = r.path[:bytes.LastIndexByte(r.path, '/')]
		r.nodes = r.nodes[:len(r.nodes)-1]
	}
}
