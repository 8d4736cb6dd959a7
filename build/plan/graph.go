package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// Graph is what comes from what: commands become binaries, which become images
// together with bases, which become indexes. Platforms are folded into one node,
// so that it grows with the number of images alone. Equal plans give equal
// graphs.
type Graph struct {
	Platforms []platform.Platform // of the legs, in the plan's order
	Images    []GraphImage        // in the plan's order
	Unused    []string            // directories of commands that no image copies
}

// GraphImage is one image with all that it is made of.
type GraphImage struct {
	Name    string
	Bases   []string      // references, with the platforms where it is not all; scratch where there is none
	Copies  []GraphBinary // binaries, by command
	Source  string        // directory of the command that its RUN compiles; "" is none
	Legs    string        // how many platforms, or which, and who builds them
	Indexes []string      // references of the index
}

// GraphBinary is a command's binary on every platform of an image.
type GraphBinary struct {
	Dir  string // of the command
	Path string // one name for all, e.g. bin/app-linux-{amd64,arm64}
}

// Graph draws the plan that follows from f. index gives the references that an
// image's index gets.
func (p *Plan) Graph(f Facts, index func(Image) []string) Graph {
	g := Graph{}
	for _, l := range p.Legs {
		if !slices.Contains(g.Platforms, l.Platform) {
			g.Platforms = append(g.Platforms, l.Platform)
		}
	}
	copied := map[string]bool{}
	for _, img := range p.Images {
		legs := p.legs(img.Name)
		if len(legs) == 0 {
			continue
		}
		n := GraphImage{Name: img.Name, Bases: bases(img, f.Recipes[img.Name], legs), Legs: g.legs(legs), Indexes: index(img)}
		for _, c := range p.Commands {
			switch {
			case slices.Contains(img.Binaries, c.Name):
				n.Copies = append(n.Copies, GraphBinary{Dir: c.Dir, Path: p.folded(c, legs)})
			case c.Rebuilt != "" && c.Name == img.Name:
				n.Source = c.Dir
			default:
				continue
			}
			copied[c.Name] = true
		}
		g.Images = append(g.Images, n)
	}
	for _, c := range p.Commands {
		if !copied[c.Name] {
			g.Unused = append(g.Unused, c.Dir)
		}
	}
	return g
}

// few are so many names that a list of them is shorter than to say how many.
const few = 3

// legs says who builds an image, for which platforms: their number where they
// are those of the whole plan.
func (g Graph) legs(legs []Leg) string {
	on := make([]platform.Platform, len(legs))
	engines := []string{}
	count := map[string]int{}
	for i, l := range legs {
		on[i] = l.Platform
		name := l.Engine
		if name == "" {
			name = "nobody here"
		}
		if count[name]++; !slices.Contains(engines, name) {
			engines = append(engines, name)
		}
	}
	text := fmt.Sprintf("%d platforms", len(on))
	if len(on) <= 2 || !slices.Equal(on, g.Platforms) {
		text = Words(on)
	}
	if len(engines) == 1 {
		return text + ": " + engines[0]
	}
	for i, name := range engines {
		engines[i] = fmt.Sprintf("%d %s", count[name], name)
	}
	return text + ": " + strings.Join(engines, ", ")
}

// folded is one name for a command's binaries on the platforms of legs.
func (p *Plan) folded(c Command, legs []Leg) string {
	var paths []string
	for _, b := range p.Binaries {
		if b.Command == c.Name && slices.ContainsFunc(legs, func(l Leg) bool { return l.Platform == b.Platform }) {
			paths = append(paths, b.Path)
		}
	}
	return fold(paths)
}

// fold writes what names share once: a-{x,y}-b, and a-*-b (4) where there are
// many. What they share ends at a dash or a slash: amd64 and arm64 are two words.
func fold(names []string) string {
	if len(names) == 0 {
		return ""
	}
	if len(names) == 1 {
		return names[0]
	}
	head, tail := names[0], names[0]
	for _, n := range names[1:] {
		head = head[:shared(head, n, func(s string, i int) byte { return s[i] })]
		tail = tail[len(tail)-shared(tail, n, func(s string, i int) byte { return s[len(s)-1-i] }):]
	}
	head = head[:strings.LastIndexAny(head, "-/_.")+1]
	if i := strings.IndexAny(tail, "-/_."); i < 0 {
		tail = ""
	} else {
		tail = tail[i:]
	}
	if len(names) > few {
		return fmt.Sprintf("%s*%s (%d)", head, tail, len(names))
	}
	var middle []string
	for _, n := range names {
		if len(n) < len(head)+len(tail) {
			return strings.Join(names, " ")
		}
		middle = append(middle, n[len(head):len(n)-len(tail)])
	}
	return head + "{" + strings.Join(middle, ",") + "}" + tail
}

// shared is how many characters two names have in common, counted by at.
func shared(a, b string, at func(string, int) byte) int {
	n := 0
	for n < len(a) && n < len(b) && at(a, n) == at(b, n) {
		n++
	}
	return n
}

// bases are what an image is built on and copies from: what its last stage is
// FROM first, and with each the platforms it is for, where others have another.
func bases(img Image, recipes []*dockerfile.Recipe, legs []Leg) []string {
	var refs []string
	on := map[string][]platform.Platform{}
	add := func(b *dockerfile.Base, pl platform.Platform) {
		ref := familiar(b.Ref)
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
		if !slices.Contains(on[ref], pl) {
			on[ref] = append(on[ref], pl)
		}
	}
	for _, l := range legs {
		r := recipes[slices.Index(img.Platforms, l.Platform)]
		if r.FinalBase != nil {
			add(r.FinalBase, l.Platform)
		}
		for _, op := range r.Ops {
			if op.Base != nil {
				add(op.Base, l.Platform)
			}
		}
	}
	for i, ref := range refs {
		refs[i] += onlyOn(on[ref], legs)
	}
	if len(refs) == 0 {
		return []string{"scratch"}
	}
	return refs
}

// onlyOn says which platforms something is for, where it is not for all.
func onlyOn(on []platform.Platform, legs []Leg) string {
	var rest []platform.Platform
	for _, l := range legs {
		if !slices.Contains(on, l.Platform) {
			rest = append(rest, l.Platform)
		}
	}
	switch {
	case len(rest) == 0:
		return ""
	case len(rest) < len(on):
		return " (all but " + Words(rest) + ")"
	}
	return " (" + Words(on) + ")"
}

// familiar is a reference as people write it, and of a digest what tells it from
// others.
func familiar(ref string) string {
	name, digest, pinned := strings.Cut(ref, "@")
	if rest, hub := strings.CutPrefix(name, "docker.io/"); hub {
		name = rest
	}
	if dir, base := path.Split(name); dir == "library/" {
		name = base
	}
	if pinned {
		name += "@" + digest[:min(len(digest), len("sha256:")+8)]
	}
	return name
}
