package rootfs

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

// checkKey refuses what BuildKit v0.34.2 refuses while it computes the cache key
// of a copy, before it copies anything. Most of it would fail in the copy too;
// broken wildcards, required paths and dangling links at the top of a filtered
// source would not.
func checkKey(t Tree, c CopySpec, f filter) error {
	if c.Unkeyed {
		return nil
	}
	if c.Wildcard && hasWildcards(c.Src) {
		return checkPattern(t, clean(c.Src))
	}
	if len(c.Include) == 0 && len(c.Exclude) == 0 {
		return checkExists(t, clean(c.Src), c.FollowSymlink)
	}
	k := &keyWalk{tree: t, filter: f, follow: c.FollowSymlink, missing: slices.Clone(c.RequiredPaths)}
	if err := k.run(c.Src); err != nil {
		return err
	}
	if len(k.missing) > 0 {
		return notFoundError{k.missing[0]}
	}
	return nil
}

// checkPattern refuses a malformed wildcard, which the copy itself would take
// for one that matches nothing. BuildKit notices only if it tries the pattern
// on something.
func checkPattern(t Tree, p string) error {
	prefix, _ := splitWildcards(p)
	if _, err := t.Stat(prefix); err != nil {
		return nil // the copy has the better error
	}
	if _, err := path.Match(p, ""); err != nil {
		return pathError("match", p, err)
	}
	return nil
}

func checkExists(t Tree, p string, follow bool) error {
	to, err := t.Resolve("/", p, follow)
	if err == nil {
		_, err = t.Lstat(to)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return notFoundError{p}
	}
	return err
}

// keyWalk lists what the key of a filtered source is made of.
type keyWalk struct {
	tree    Tree
	filter  filter
	follow  bool
	src     string   // as the key spells it: links unresolved
	missing []string // required paths that nothing has matched yet
}

func (k *keyWalk) run(src string) error {
	k.src = clean(src)
	to, err := k.tree.Resolve("/", k.src, false)
	if err != nil {
		return nil // the copy has the better error
	}
	n, err := lookup(k.tree, to)
	if err != nil || n == nil {
		return nil
	}
	// With a slash at the end, as "/" has, the directory itself is no part of
	// the key, and then what lies in it counts as the top.
	if !n.IsDir() || !strings.HasSuffix(src, "/") {
		return k.visit(n, "", verdict{}, true)
	}
	return k.entries(n, "", verdict{}, true)
}

func (k *keyWalk) visit(n *Node, rel string, parent verdict, top bool) error {
	v, err := k.filter.judge(rel, parent)
	if err != nil {
		return err
	}
	p := path.Join(k.src, rel)
	if v.included {
		k.missing = slices.DeleteFunc(k.missing, func(want string) bool { return strings.HasPrefix(p, want) })
		if top && k.follow && n.IsLink() {
			return checkExists(k.tree, p, true)
		}
	}
	return k.entries(n, rel, v, false)
}

func (k *keyWalk) entries(n *Node, rel string, v verdict, top bool) error {
	for _, name := range n.Names() {
		if err := k.visit(n.Child(name), path.Join(rel, name), v, top); err != nil {
			return err
		}
	}
	return nil
}
