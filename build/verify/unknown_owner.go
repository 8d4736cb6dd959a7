package verify

import (
	"fmt"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// unknownOwner finds owners by name that the tree surely does not know. BuildKit
// takes a user for root then and passes over a group, but for an empty tree,
// where it refuses to build.
var unknownOwner = perImage(func(b *result) []remark {
	g := &grower{result: b, worlds: map[int]*world{}}
	var list []remark
	for _, op := range b.r.Ops {
		if op.Kind != dockerfile.KindFile {
			continue
		}
		for _, a := range op.File.Actions {
			if o := ownerOf(a); o != nil {
				if what := g.stranger(o); what != "" {
					list = append(list, b.unknownOwner(op, o, what))
					break
				}
			}
		}
	}
	return list
})

func ownerOf(a dockerfile.Action) *dockerfile.Owner {
	switch {
	case a.Copy != nil:
		return a.Copy.Owner
	case a.Mkdir != nil:
		return a.Mkdir.Owner
	case a.Write != nil:
		return a.Write.Owner
	}
	return nil
}

// stranger says what becomes of an owner that is not known, "" where it is or
// may be.
func (g *grower) stranger(o *dockerfile.Owner) string {
	if n := o.User; n != nil && n.Name != "" {
		if n.In == dockerfile.Scratch {
			return "BuildKit refuses user " + n.Name + ": the image is empty and has no /etc/passwd"
		}
		if known, sure := g.knows(n.In, "/etc/passwd", n.Name); sure && !known {
			return "there is no user " + n.Name + " in the image, so BuildKit takes root"
		}
	}
	if n := o.Group; n != nil && n.Name != "" {
		if n.In == dockerfile.Scratch {
			return "BuildKit refuses group " + n.Name + ": the image is empty and has no /etc/group"
		}
		if known, sure := g.knows(n.In, "/etc/group", n.Name); sure && !known {
			return "there is no group " + n.Name + " in the image, so BuildKit passes over it"
		}
	}
	return ""
}

// knows reports whether a tree has an account, and whether that can be said.
func (g *grower) knows(op int, file, name string) (known, sure bool) {
	w := g.world(op)
	f := w.find(file)
	switch {
	case f.is == absent:
		return false, true
	case f.is == present && file == "/etc/passwd":
		_, found, err := rootfs.LookupUser(w.tree, name)
		return found, err == nil
	case f.is == present:
		_, found, err := rootfs.LookupGroup(w.tree, name)
		return found, err == nil
	}
	if w.ground.base == nil || !w.untouched(file) {
		return false, false
	}
	table := w.ground.base.users
	if file == "/etc/group" {
		table = w.ground.base.groups
	}
	_, known = table[name]
	return known, table != nil
}

func (b *result) unknownOwner(op dockerfile.Op, o *dockerfile.Owner, what string) remark {
	m := remark{ins: b.instruction(op), what: what}
	switch {
	case m.ins == nil:
	case copies(m.ins):
		m.fix = withFlag(m.ins, "chown", numbers(o))
	default:
		m.fix = "USER " + numbers(o) + " instead of a name, before " + m.ins.Text
	}
	return m
}

// numbers is an owner by numbers: those that distroless gives these names, else
// any that are nobody's.
func numbers(o *dockerfile.Owner) string {
	id := func(n *dockerfile.Name, other uint32) uint32 {
		switch {
		case n == nil:
			return other
		case n.Name == "":
			return n.ID
		}
		if v, ok := distrolessUsers[n.Name]; ok {
			return uint32(v)
		}
		return other
	}
	user := id(o.User, 65532)
	if o.User == nil {
		user = 0
	}
	return fmt.Sprintf("%d:%d", user, id(o.Group, user))
}
