package verify

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/rootfs"
)

// world is the file tree of an operation as far as it can be known without a
// network and without running anything: what was copied for certain, and where
// there may be more.
type world struct {
	ground ground
	tree   rootfs.Tree
	veils  []veil
}

// veil hides a part of a tree: what is there is unknown.
type veil struct {
	path string // links resolved
	self bool   // path itself is hidden, not only what is below
	mist bool   // what the tree has shows, and only what it lacks is unknown
	lazy bool   // a closer look at the build context may tell
	seen []string
}

// over reports whether the veil lies over a path.
func (v veil) over(p string) bool {
	rel, ok := below(v.path, p)
	return ok && (v.self || rel != "")
}

// hides is over for what the tree has.
func (v veil) hides(p string) bool {
	return !v.mist && v.over(p) && !slices.ContainsFunc(v.seen, func(s string) bool { return atOrBelow(p, s) || atOrBelow(s, p) })
}

// atOrBelow reports whether p is dir, or below it.
func atOrBelow(p, dir string) bool { _, ok := below(dir, p); return ok }

// anything is the world that nothing is known of.
func anything() *world { return &world{ground: ground{any: true}} }

// with is w with one more veil.
func (w *world) with(v veil) { w.veils = append(slices.Clip(w.veils), v) }

// presence says whether something is there.
type presence int

const (
	unknowable presence = iota // a container may find it or not
	absent                     // surely not there
	present                    // surely there
)

// site is a node of a tree and its path, links resolved.
type site struct {
	path string
	node *rootfs.Node
}

// found is the answer to a search.
type found struct {
	is presence
	site
	way  []site // where present: the directories down to it, each without links, the root left out
	look string // where unknown: the path of which the build context may know more
}

// find follows a path from the root through directories and links. Paths that
// end in a loop of links are absent.
func (w *world) find(p string) found {
	root, _ := w.tree.Lstat("/")
	way := []site{{"/", root}}
	links := 0
	for rest := p; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		top := way[len(way)-1]
		switch name {
		case "", ".":
			continue
		case "..":
			way = way[:max(1, len(way)-1)]
			continue
		}
		at := path.Join(top.path, name)
		if i := slices.IndexFunc(w.veils, func(v veil) bool { return v.hides(at) }); i >= 0 {
			return w.behind(at, rest)
		}
		kid := top.node.Child(name)
		switch {
		case kid == nil:
			return w.nothing(at, rest)
		case kid.IsLink():
			if links++; links > 255 {
				return found{is: absent, site: site{path: at}}
			}
			if path.IsAbs(kid.Link) {
				way = way[:1]
			}
			rest = kid.Link + "/" + rest
		default:
			way = append(way, site{at, kid})
		}
	}
	last := len(way) - 1
	return found{is: present, site: way[last], way: way[min(1, last):last]}
}

// behind is the answer for what a veil covers.
func (w *world) behind(at, rest string) found {
	f := found{site: site{path: at}}
	if slices.ContainsFunc(w.veils, func(v veil) bool { return v.lazy && v.over(at) }) {
		f.look = path.Join(at, rest)
	}
	return f
}

// nothing is the answer where the tree ends before at, below a file maybe. Where
// the base may have a directory of the file's name, a copy went into that.
func (w *world) nothing(at, rest string) found {
	if slices.ContainsFunc(w.veils, func(v veil) bool { return v.over(at) }) {
		return w.behind(at, rest)
	}
	full := path.Join(at, rest)
	if w.ground.has(at) && (w.ground.has(full) || strings.Contains("/"+rest, "/..") || w.merged(full)) {
		return found{site: site{path: at}}
	}
	return found{is: absent, site: site{path: at}}
}

// merged reports whether a program may be in a directory that the base has
// under the name of another one.
func (w *world) merged(p string) bool {
	return slices.Contains(programDirs, path.Dir(p)) && slices.ContainsFunc(programDirs, func(dir string) bool {
		at := path.Join(dir, path.Base(p))
		_, err := w.tree.Lstat(at)
		return err == nil || slices.ContainsFunc(w.veils, func(v veil) bool { return v.over(at) })
	})
}

// sure reports whether the base has nothing at a path, so that what the tree has
// there was made by the Dockerfile alone.
func (w *world) sure(p string) bool {
	return !w.ground.has(p) && !slices.ContainsFunc(w.veils, func(v veil) bool { return v.hides(p) })
}

// files calls fn for every file that is surely there, by path, until it says
// false.
func (w *world) files(fn func(site) bool) {
	_ = w.tree.Walk("/", func(p string, n *rootfs.Node) error {
		hidden := slices.ContainsFunc(w.veils, func(v veil) bool { return v.hides(p) })
		if !hidden && n.Mode.IsRegular() && !fn(site{p, n}) {
			return fs.SkipAll
		}
		return nil
	})
}
