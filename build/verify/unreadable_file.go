package verify

import (
	"fmt"
	"path"
	"slices"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// unreadableFile finds what is copied, but that the image's user surely can
// neither read nor execute or enter.
var unreadableFile = perImage(func(b *result) []remark {
	u := b.user()
	if !u.other() {
		return nil
	}
	look := b.directories()
	final := b.closer(look)
	var started string // what cannot be started is another rule's
	if s, ok := b.start(); ok {
		if e := b.executable(s.program()); e.is == present && u.may(e.node, 1) == denied {
			started = e.path
		}
	}
	var list []remark
	for _, l := range b.layers(look) {
		if l.ins == nil || !copies(l.ins) {
			continue
		}
		closed := slices.DeleteFunc(closedTo(u, l, final), func(p site) bool { return p.path == started })
		if len(closed) > 0 {
			list = append(list, unreadable(u, l, closed))
		}
	}
	return list
})

// directories are where directories of the context are copied, but for the whole
// of it.
func (b *result) directories() []string {
	var list []string
	for _, op := range b.r.Ops {
		if op.Kind != dockerfile.KindFile {
			continue
		}
		for _, a := range op.File.Actions {
			if c := a.Copy; c != nil && c.From >= 0 && b.r.Ops[c.From].Kind == dockerfile.KindContext && relative(c.Src) != "." && len(c.Include) == 0 {
				list = append(list, cleaned(c.Dest))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// closedTo lists what a layer adds, and what is still so in the image, by path.
func closedTo(u user, l layer, final *world) []site {
	lower := l.before.tree
	if l.link {
		lower = rootfs.Tree{}
	}
	var list []site
	for _, e := range rootfs.Diff(lower, l.after.tree) {
		n := e.Node
		if n == nil || !n.IsDir() && !n.Mode.IsRegular() || slices.ContainsFunc(l.after.veils, func(v veil) bool { return v.hides(e.Path) }) {
			continue
		}
		p := cleaned(e.Path)
		f := final.find(p)
		have, _ := lower.Lstat(p)
		switch {
		case have.IsDir() && n.IsDir() && have.Mode == n.Mode: // listed for what is below
		case f.is != present || f.path != p || f.node.Mode != n.Mode || secretFile(p):
		case n.IsDir() && (!final.sure(p) || chmods(l.op) || u.may(n, 1) != denied): // of --chmod another rule tells
		case !n.IsDir() && (u.may(n, 4) != denied || u.may(n, 1) == allowed): // a program need not be read
		default:
			list = append(list, site{p, n})
		}
	}
	return list
}

// secretFile reports whether nobody but root is meant to read a file.
func secretFile(p string) bool { return p == "/etc/shadow" || p == "/etc/gshadow" }

func chmods(op dockerfile.Op) bool {
	return slices.ContainsFunc(op.File.Actions, func(a dockerfile.Action) bool { return a.Copy != nil && a.Copy.Mode != "" })
}

func unreadable(u user, l layer, list []site) remark {
	first := list[0]
	verb, want := "read", "u=rwX,go=rX" // which fits directories as well
	switch {
	case first.node.IsDir():
		verb = "enter"
	case !l.alone(first):
	case first.node.Mode&0o111 != 0:
		want = "0755"
	default:
		want = "0644"
	}
	owner := fmt.Sprintf("%d:%d", first.node.UID, first.node.GID)
	if first.node.UID == someone || first.node.GID == someone {
		owner = "somebody else"
	}
	what := fmt.Sprintf("%s %s %s, which has mode %s and belongs to %s", u.cannot(), verb, first.path, octal(first.node.Mode), owner)
	if n := len(list) - 1; n > 0 {
		what += fmt.Sprintf(", and %d more like it", n)
	}
	return remark{ins: l.ins, what: what, fix: withFlag(l.ins, "chmod", want)}
}

// alone reports whether a layer adds nothing but one file to a directory that
// was there.
func (l layer) alone(p site) bool {
	c := l.op.File.Actions[0].Copy
	if len(l.op.File.Actions) > 1 || c == nil || c.Wildcard && wildcard(c.Src) {
		return false
	}
	_, err := l.before.tree.Lstat(path.Dir(p.path))
	return err == nil && (p.path == cleaned(c.Dest) || path.Base(p.path) == path.Base(c.Src))
}

func cleaned(p string) string { return path.Clean("/" + p) }
