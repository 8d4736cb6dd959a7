package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// linkReplacesSymlink finds a COPY --link whose directories take the place of
// symbolic links below. The layer is made without looking at what it lies on, so
// no link is followed.
var linkReplacesSymlink = perImage(func(b *result) []remark {
	var list []remark
	for i, op := range b.r.Ops {
		if op.Kind != dockerfile.KindMerge || !b.r.ReachesResult(i) {
			continue
		}
		links := b.linksBelow(op.Inputs[0])
		for k, in := range op.Inputs[1:] {
			g := &grower{result: b, look: above(b.r.Ops[in]), worlds: map[int]*world{}}
			if dir, to := replaced(g.world(in), g.merge(op.Inputs[:k+1]), links); dir != "" {
				top := b.r.Ops[in]
				ins := b.instruction(top)
				list = append(list, remark{
					ins: ins,
					what: "--link puts a directory in the place of " + dir + ", a symlink to " + to +
						", so what it led to is no longer found there",
					fix: unlinked(ins, dir, to),
				})
			}
		}
	}
	return list
})

// above lists the directories that a layer's files go to or through.
func above(op dockerfile.Op) []string {
	var list []string
	if op.File == nil {
		return nil
	}
	for _, a := range op.File.Actions {
		to, _ := destination(a)
		for to = path.Clean(to); to != "/" && to != "."; to = path.Dir(to) {
			list = append(list, to)
		}
	}
	return list
}

// replaced is the first directory of a layer where the tree below has a link.
func replaced(top, lower *world, links map[string]string) (dir, to string) {
	_ = top.tree.Walk("/", func(p string, n *rootfs.Node) error {
		if dir != "" || !n.IsDir() {
			return nil
		}
		have, err := lower.tree.Lstat(p)
		hidden := slices.ContainsFunc(lower.veils, func(v veil) bool { return v.hides(p) })
		switch {
		case err == nil && have.IsLink() && !hidden:
			dir, to = p, have.Link
		case err != nil && links[p] != "":
			dir, to = p, links[p]
		}
		return nil
	})
	return dir, to
}

// unlinked is the instruction with a destination that leads through no link.
func unlinked(ins *dockerfile.Instruction, dir, to string) string {
	if ins == nil {
		return ""
	}
	if !path.IsAbs(to) {
		to = path.Join(path.Dir(dir), to)
	}
	text, _ := single(ins)
	if rest, ok := strings.CutPrefix(ins.Dest, dir); ok && strings.HasSuffix(text, ins.Dest) {
		return strings.TrimSuffix(text, ins.Dest) + to + rest
	}
	return "a destination below " + to + " instead of " + dir + ", or no --link"
}

// linksBelow are links that the base of a tree surely has.
func (b *result) linksBelow(op int) map[string]string {
	for op != dockerfile.Scratch {
		switch o := b.r.Ops[op]; o.Kind {
		case dockerfile.KindFile:
			op = o.File.Parent
		case dockerfile.KindRun:
			op = o.Run.Parent
		case dockerfile.KindMerge:
			op = o.Inputs[0]
		case dockerfile.KindBase:
			if links := linksOf(o.Base.Ref); links != nil || o.Base != b.r.FinalBase {
				return links
			}
			return linksOf(b.from())
		default:
			return nil
		}
	}
	return nil
}

// mergedUsr are the links of systems with everything below /usr. Others have
// them as well, but not on every architecture or in every version.
var mergedUsr = map[string]string{"/bin": "usr/bin", "/sbin": "usr/sbin", "/lib": "usr/lib"}

// unmerged are releases before that, by repository; of some all releases are
// merged.
var unmerged = map[string][]string{
	"ubuntu": {"14", "16", "18", "trusty", "xenial", "bionic"},
	"debian": {
		"7", "8", "9", "10", "11", "wheezy", "jessie", "stretch", "buster", "bullseye", "oldoldstable", "oldstable",
		"unstable", "sid", "experimental", "rc-buggy",
	},
	"fedora": nil, "rockylinux": nil, "almalinux": nil, "archlinux": nil,
}

// linksOf are the links that every version of an image has, as far as it is
// known.
func linksOf(ref string) map[string]string {
	name, tag := splitRef(ref)
	name = strings.TrimPrefix(strings.TrimPrefix(name, "docker.io/"), "library/")
	old, ok := unmerged[name]
	if !ok || tag == "" || slices.ContainsFunc(old, func(v string) bool { return tag == v || strings.HasPrefix(tag, v+".") || strings.HasPrefix(tag, v+"-") }) {
		return nil
	}
	return mergedUsr
}
