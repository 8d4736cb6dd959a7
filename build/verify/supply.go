package verify

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// supply is what a copy takes from: a tree, the copy as it is to be run on it,
// and what it leaves unknown, by paths below the destination.
type supply struct {
	tree  rootfs.Tree
	copy  dockerfile.Copy
	veils []veil
}

// lone is a tree of one file.
func lone(p string, n *rootfs.Node) rootfs.Tree {
	e := rootfs.Tree{}.Edit()
	if e.MkdirAll(path.Dir(p), 0o755, nil) != nil || e.Put(p, n) != nil {
		return rootfs.Tree{} // p is the root, or empty
	}
	return e.Tree()
}

func mode(bits uint32) fs.FileMode { return fs.FileMode(bits).Perm() }

// secret is a content that is not known.
type secret struct{}

var errSecret = errors.New("content is not known")

// Open implements [rootfs.Content].
func (secret) Open() (io.ReadCloser, error) { return nil, errSecret }

var (
	aFile = lone("/x", &rootfs.Node{Mode: 0o755, Size: 1, Data: secret{}})
	aDir  = lone("/x", &rootfs.Node{Mode: fs.ModeDir | 0o755})
)

// instead is a copy of something that is not known, so that the directories
// above are made as they will be: a file, or the content of a directory.
func (g *grower) instead(c *dockerfile.Copy, v veil) supply {
	s := supply{tree: aFile, copy: *c, veils: []veil{v}}
	if !v.self {
		s.tree = aDir
	}
	s.copy.From = len(g.r.Ops)
	s.copy.Src, s.copy.DirContents, s.copy.Wildcard, s.copy.Unpack = "/x", true, false, false
	s.copy.Include, s.copy.Exclude, s.copy.RequiredPaths = nil, nil, nil
	return s
}

// something is a copy of which nothing is known.
func (g *grower) something(c *dockerfile.Copy) supply { return g.instead(c, veil{self: true}) }

func (g *grower) supply(c *dockerfile.Copy) supply {
	if c.From == dockerfile.Scratch {
		return supply{copy: *c}
	}
	if from := g.r.Ops[c.From]; from.Kind == dockerfile.KindContext {
		return g.fromContext(c, from.Context)
	}
	return g.fromTree(c, g.world(c.From))
}

// fromTree is a copy of a file or directory of another tree. It is exact where
// all of it is known.
func (g *grower) fromTree(c *dockerfile.Copy, w *world) supply {
	if c.Unpack || c.Wildcard && wildcard(c.Src) || len(c.Include) > 0 {
		if c.Unpack || w.ground != (ground{}) || len(w.veils) > 0 {
			return g.something(c)
		}
		return supply{tree: w.tree, copy: *c}
	}
	f := w.find(c.Src)
	switch {
	case f.is == unknowable, f.is == present && !w.sure(f.path):
		return g.something(c)
	case f.is == absent || !f.node.IsDir():
		return supply{tree: w.tree, copy: *c} // that nothing is there is an error of the build
	case !c.DirContents || w.ground.has(f.path):
		return g.something(c)
	}
	s := supply{tree: w.tree, copy: *c}
	for _, v := range w.veils {
		rel, ok := below(f.path, v.path)
		switch {
		case ok:
			v.path = rel
		case v.over(f.path):
			v.path, v.self = "", false
		default:
			continue
		}
		v.lazy, v.seen = false, nil
		s.veils = append(s.veils, v)
	}
	return s
}

// fromContext is a copy from the build context. A source that is missing may be
// made by whatever runs before the build, and so may more files in a directory.
func (g *grower) fromContext(c *dockerfile.Copy, x *dockerfile.Context) supply {
	dir := g.context(x)
	if dir == nil {
		return g.something(c)
	}
	if len(c.Include) > 0 || c.Wildcard && wildcard(c.Src) {
		return g.several(c, dir)
	}
	src := relative(c.Src)
	switch e := dir.entry(src); {
	case e.kind == aNode && c.Unpack && archive(e.node):
		return g.something(c)
	case e.kind == aNode:
		s := supply{tree: lone("/"+src, e.node), copy: *c}
		s.copy.Unpack = false
		return s
	case e.kind == aDirectory:
		return g.directory(c, dir, src)
	case e.kind == aPuzzle:
		tree, err := dir.tree([]string{src})
		if n, _ := tree.Stat(src); err != nil || c.Unpack || n == nil || n.IsDir() {
			return g.something(c)
		}
		return supply{tree: tree, copy: *c}
	}
	return g.something(c)
}

// directory is a copy of a directory's content, of which only those files are
// looked at that are asked for.
func (g *grower) directory(c *dockerfile.Copy, dir *contextDir, src string) supply {
	v := veil{lazy: true}
	var seen, follow []string
	to := path.Clean(c.Dest)
	for _, p := range g.look {
		if rel, ok := below(to, p); ok && !wildcard(rel) && (rel != "" || src != ".") {
			seen, follow = append(seen, p), append(follow, path.Join(src, rel))
		}
	}
	if follow == nil {
		return g.instead(c, v)
	}
	tree, err := dir.tree(follow)
	if n, _ := tree.Stat(src); err != nil || !n.IsDir() {
		return g.instead(c, v)
	}
	for i, p := range follow {
		if at := visible(tree, p); at != "" {
			v.seen = append(v.seen, path.Clean(strings.TrimSuffix(seen[i], strings.TrimPrefix(p, at))))
		}
	}
	s := supply{tree: tree, copy: *c, veils: []veil{v}}
	s.copy.Unpack = false
	return s
}

// visible is a path of a tree if something is there, or the link on the way to
// it; "" where it may still be made.
func visible(t rootfs.Tree, p string) string {
	for at := p; at != "."; at = path.Dir(at) {
		if n, err := t.Lstat(at); err == nil && (at == p || n.IsLink()) {
			return at
		}
	}
	return ""
}

// several is a copy of what patterns match. More may match when it is run.
func (g *grower) several(c *dockerfile.Copy, dir *contextDir) supply {
	v := veil{self: true, lazy: true}
	to := path.Clean(c.Dest)
	if !slices.ContainsFunc(g.look, func(p string) bool { return atOrBelow(p, to) }) || c.Unpack {
		s := g.instead(c, veil{self: len(c.Include) == 0})
		s.veils = []veil{v}
		return s
	}
	follow := []string{relative(c.Src)}
	for i, p := range c.Include {
		follow = append(follow[:i], relative(path.Join(c.Src, p)))
	}
	tree, err := dir.tree(follow)
	if err != nil || tree == (rootfs.Tree{}) {
		return g.something(c)
	}
	return supply{tree: tree, copy: *c, veils: []veil{{self: true, mist: true}}}
}

func relative(src string) string { return path.Join(".", path.Clean("/" + src)[1:]) }

// archive reports whether ADD may unpack a file.
func archive(n *rootfs.Node) bool {
	if n.Data == nil || n.Size == 0 {
		return false
	}
	r, err := n.Data.Open()
	if err != nil {
		return true
	}
	defer func() { _ = r.Close() }()
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return false // too short for one
	}
	return string(head) != "\x7fELF" && string(head[:2]) != "#!"
}
