package verify

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/replay"
	"github.com/archmage-go/archmage/build/rootfs"
)

// grower makes the worlds of a recipe, each once and only if it is asked for.
// What it cannot know, such as the effect of a RUN, it leaves open.
type grower struct {
	*result
	look   []string // paths of the image for which copied directories are looked into
	worlds map[int]*world
}

// world is the tree of an operation.
func (g *grower) world(op int) *world {
	if op == dockerfile.Scratch {
		return &world{}
	}
	w := g.worlds[op]
	if w == nil {
		w = g.grow(g.r.Ops[op])
		g.worlds[op] = w
	}
	return w
}

func (g *grower) grow(op dockerfile.Op) *world {
	switch op.Kind {
	case dockerfile.KindBase:
		return &world{ground: g.groundOf(op.Base)}
	case dockerfile.KindHTTP:
		return &world{tree: lone("/"+op.HTTP.Filename, &rootfs.Node{Mode: mode(op.HTTP.Mode), Size: 1, Data: secret{}})}
	case dockerfile.KindFile:
		return g.file(op)
	case dockerfile.KindMerge:
		return g.merge(op.Inputs)
	}
	return anything()
}

// groundOf is what is known of a base. Where a mirror serves it, the FROM of the
// final stage still has its name.
func (g *grower) groundOf(b *dockerfile.Base) ground {
	known := knownAs(b.Ref)
	if b == g.r.FinalBase {
		known = g.known
	}
	return ground{any: known == nil, base: known}
}

// file runs the actions of one instruction. An error is one of the build: no
// image comes of it, so nothing can be said about it.
func (g *grower) file(op dockerfile.Op) *world {
	parent := g.world(op.File.Parent)
	w := &world{parent.ground, parent.tree, slices.Clip(parent.veils)}
	if !g.anchored(op) {
		return anything()
	}
	e := w.tree.Edit()
	for _, a := range op.File.Actions {
		if g.action(w, e, a, op.File.Parent) != nil {
			return anything()
		}
	}
	w.tree = e.Tree()
	return w
}

func (g *grower) action(w *world, e *rootfs.Editor, a dockerfile.Action, parent int) error {
	from := supply{}
	switch {
	case a.Copy != nil:
		from = g.supply(a.Copy)
		c := from.copy
		c.Owner = g.owner(c.Owner)
		a.Copy = &c
	case a.Mkdir != nil:
		m := *a.Mkdir
		m.Owner = g.owner(m.Owner)
		a.Mkdir = &m
	}
	to, slash := destination(a)
	to, err := e.Resolve("/", to, true)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(w.veils, func(v veil) bool { return v.over(to) }) {
		w.ground.any = true // it may have gone through a link to anywhere
	}
	have, _ := e.Lstat(to)
	do := replay.Replay{Tree: func(op int) (rootfs.Tree, error) {
		if a.Copy != nil && op == a.Copy.From {
			return from.tree, nil
		}
		return g.world(op).tree, nil
	}}
	if err := do.Action(context.Background(), e, a, parent); err != nil {
		return err
	}
	if a.Copy != nil && from.veils == nil {
		w.reveal(e, to, path.Base(a.Copy.Src))
	}
	for _, v := range from.veils {
		if v.path == "" {
			v.self = v.self && !slash && !have.IsDir()
		}
		v.path = path.Join(to, v.path)
		w.with(v)
	}
	return nil
}

// reveal makes a file show that was copied over what is hidden.
func (w *world) reveal(e *rootfs.Editor, to, name string) {
	n, err := e.Lstat(to)
	if n.IsDir() {
		to = path.Join(to, name)
		n, err = e.Lstat(to)
	}
	if err != nil || !n.Mode.IsRegular() {
		return
	}
	for i, v := range w.veils {
		if v.over(to) {
			w.veils = slices.Clone(w.veils)
			w.veils[i].seen = append(slices.Clip(v.seen), to)
		}
	}
}

// destination is where an action goes, and whether it says that this is a
// directory.
func destination(a dockerfile.Action) (to string, slash bool) {
	switch {
	case a.Copy != nil:
		return a.Copy.Dest, strings.HasSuffix(a.Copy.Dest, "/") || strings.HasSuffix(a.Copy.Dest, "/.")
	case a.Mkdir != nil:
		return a.Mkdir.Path, true
	case a.Write != nil:
		return a.Write.Path, false
	}
	return "/", true
}

// someone is an id that is not known.
const someone = 1<<31 - 2

// owner replaces names that the known part of a tree cannot decide.
func (g *grower) owner(o *dockerfile.Owner) *dockerfile.Owner {
	if o == nil {
		return nil
	}
	user := g.id(o.User, "/etc/passwd", func(b *knownBase) map[string]int { return b.users })
	group := g.id(o.Group, "/etc/group", func(b *knownBase) map[string]int { return b.groups })
	if user == nil && o.User != nil {
		user = &dockerfile.Name{In: dockerfile.Scratch} // a user that is missing is root
	}
	return &dockerfile.Owner{User: user, Group: group}
}

// id is a name as it is where the tree's account file decides, else its number,
// nil where the file lacks it.
func (g *grower) id(n *dockerfile.Name, file string, table func(*knownBase) map[string]int) *dockerfile.Name {
	if n == nil || n.Name == "" || n.In == dockerfile.Scratch {
		return n
	}
	w := g.world(n.In)
	if w.find(file).is != unknowable {
		return n
	}
	if w.ground.base == nil || !w.untouched(file) || table(w.ground.base) == nil {
		return &dockerfile.Name{ID: someone, In: dockerfile.Scratch}
	}
	if id, ok := table(w.ground.base)[n.Name]; ok {
		return &dockerfile.Name{ID: uint32(id), In: dockerfile.Scratch}
	}
	return nil
}

// untouched reports whether a file of the base is as the base has it.
func (w *world) untouched(p string) bool {
	_, err := w.tree.Lstat(p)
	return err != nil && !w.ground.any && !slices.ContainsFunc(w.veils, func(v veil) bool { return v.over(p) })
}

// merge lays the layers of COPY --link over the tree below.
func (g *grower) merge(inputs []int) *world {
	below := g.world(inputs[0])
	w := &world{below.ground, below.tree, slices.Clip(below.veils)}
	for _, in := range inputs[1:] {
		top := g.world(in)
		w.ground.any = w.ground.any || top.ground.any
		var err error
		if w.tree, err = w.tree.Apply(rootfs.Diff(rootfs.Tree{}, top.tree)); err != nil {
			return anything()
		}
		w.veils = append(w.veils, top.veils...)
	}
	return w
}
