package plan

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// Facts is everything a plan follows from.
type Facts struct {
	Platforms []platform.Platform
	Bin       string   // form of a binary's path, with {name}, {os}, {arch}, {variant}
	Leg       string   // form of a leg's tag
	Version   string   // that legs are tagged with
	Engine    string   // auto, native, buildx or buildah
	Engines   []Engine // in the order of preference
	Optional  bool     // leave out foreign legs that nothing here can build

	Commands []Command // every command of the repository; nil where none is needed
	Skipped  []Skipped
	Images   []Image
	Recipes  map[string][]*dockerfile.Recipe // by image name, in the order of its platforms
}

// New decides what is built. It reads nothing but its argument, and returns the
// same plan for the same facts.
func New(f Facts) (*Plan, error) {
	p := &Plan{ // lists, not null, in JSON
		Version: Version, Commands: append([]Command{}, f.Commands...), Skipped: append([]Skipped{}, f.Skipped...),
		Binaries: []Binary{}, Images: []Image{}, Legs: []Leg{},
	}
	n := needs{Facts: f, names: map[platform.Platform][][]string{}, of: map[string]map[platform.Platform]bool{}}
	var errs []error
	errs = append(errs, CheckVersion(f.Leg, f.Version, legPlatforms(f.Images)))
	for _, img := range f.Images {
		img.Binaries = []string{}
		legs, err := f.legs(img)
		for _, l := range legs {
			if f.optional(l) {
				p.LeftOut = append(p.LeftOut, l)
				continue
			}
			p.Legs = append(p.Legs, l)
			n.add(&img, l.Platform)
		}
		slices.Sort(img.Binaries)
		p.Images = append(p.Images, img)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	f.markRebuilt(p, n.of)
	var err error
	p.Binaries, err = f.binaries(n.of)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// binaries lists what has to be compiled, by command, then by platform.
func (f Facts) binaries(needs map[string]map[platform.Platform]bool) ([]Binary, error) {
	list := []Binary{}
	var errs []error
	for _, c := range f.Commands {
		for _, pl := range f.Platforms {
			switch {
			case !needs[c.Name][pl]:
			case !slices.Contains(c.Platforms, pl):
				errs = append(errs, usage("command "+c.Name, "leave the platform out for the images that copy it",
					"does not build for %s: its build constraints exclude every file", pl))
			default:
				list = append(list, f.Binary(c, pl))
			}
		}
	}
	return list, errors.Join(errs...)
}

func legPlatforms(images []Image) []platform.Platform {
	var all []platform.Platform
	for _, img := range images {
		for _, pl := range img.Platforms {
			if !slices.Contains(all, pl) {
				all = append(all, pl)
			}
		}
	}
	return all
}

// needs collects which binaries the images copy.
type needs struct {
	Facts
	names map[platform.Platform][][]string      // what each command's binary is called, in the order of the commands
	of    map[string]map[platform.Platform]bool // by command
}

// add notes which binaries an image copies on a platform. A COPY of the whole
// context does not count: what it takes is there or not, and most of them feed a
// RUN that compiles from source.
func (n needs) add(img *Image, pl platform.Platform) {
	var sources []string
	for _, cp := range n.Recipes[img.Name][slices.Index(img.Platforms, pl)].ContextCopies() {
		sources = append(sources, cp.Paths...)
	}
	for i, c := range n.Commands {
		if !slices.ContainsFunc(n.on(pl)[i], func(name string) bool {
			rel, inside := within(img.Context, name)
			return inside && slices.ContainsFunc(sources, func(source string) bool { return Takes(source, rel) })
		}) {
			continue
		}
		if n.of[c.Name] == nil {
			n.of[c.Name] = map[platform.Platform]bool{}
		}
		n.of[c.Name][pl] = true
		if !slices.Contains(img.Binaries, c.Name) {
			img.Binaries = append(img.Binaries, c.Name)
		}
	}
}

// on lists the names of every command's binary for a platform. There may be as
// many images as commands, so they are made once for all.
func (n needs) on(pl platform.Platform) [][]string {
	list, ok := n.names[pl]
	if !ok {
		for _, c := range n.Commands {
			b := n.Binary(c, pl)
			list = append(list, append([]string{b.Path}, b.Also...))
		}
		n.names[pl] = list
	}
	return list
}

// within is a path of the repository as a context directory sees it.
func within(context, name string) (string, bool) {
	if context == "" || context == "." {
		return name, true
	}
	return strings.CutPrefix(name, context+"/")
}

// Takes reports whether a COPY source, cleaned and relative, takes the file:
// by name, by wildcard, or with the directory it is in. The whole context takes
// nothing by name.
func Takes(source, file string) bool {
	if source == "." || source == "" || source == "/" {
		return false
	}
	if source == file || strings.HasPrefix(file, source) && file[len(source)] == '/' {
		return true
	}
	if !strings.ContainsAny(source, `*?[\`) {
		return false
	}
	for p := file; p != "."; p = path.Dir(p) {
		if ok, _ := path.Match(source, p); ok {
			return true
		}
	}
	return false
}

// Binary is a command compiled for a platform, as planned here.
func (f Facts) Binary(c Command, pl platform.Platform) Binary {
	b := Binary{Command: c.Name, Package: c.ImportPath, Module: c.Module, Platform: pl, Path: pl.Expand(f.Bin, c.Name)}
	bare := platform.Platform{OS: pl.OS, Arch: pl.Arch}
	if pl.Variant != "" && f.variants(pl) == 1 {
		if also := bare.Expand(f.Bin, c.Name); also != b.Path {
			b.Also = []string{also}
		}
	}
	return b
}

// variants counts the planned platforms of one architecture.
func (f Facts) variants(pl platform.Platform) int {
	n := 0
	for _, q := range f.Platforms {
		if q.OS == pl.OS && q.Arch == pl.Arch {
			n++
		}
	}
	return n
}

// legs plans one image on each of its platforms.
func (f Facts) legs(img Image) ([]Leg, error) {
	var legs []Leg
	var errs []error
	for i, pl := range img.Platforms {
		leg := Leg{Image: img.Name, Platform: pl, Tag: LegTag(f.Leg, f.Version, pl)}
		leg.Engine, leg.Why = f.choose(img, f.Recipes[img.Name][i], pl)
		if strings.Contains(leg.Tag, "/") || len(leg.Tag) > 128 {
			errs = append(errs, usage("image "+img.Name, "shorten VERSION or IMAGE_LEG", "leg tag %q is no legal tag", leg.Tag))
		}
		legs = append(legs, leg)
	}
	return legs, errors.Join(errs...)
}

// markRebuilt finds the commands that their own image compiles from source, and
// that no image copies.
func (f Facts) markRebuilt(p *Plan, needs map[string]map[platform.Platform]bool) {
	for i, c := range p.Commands {
		at := slices.IndexFunc(p.Images, func(img Image) bool { return img.Name == strings.ToLower(c.Name) })
		if at < 0 || len(needs[c.Name]) > 0 {
			continue
		}
		for _, r := range f.Recipes[p.Images[at].Name] {
			if op, needed := r.NeedsEngine(); needed && op.Kind == dockerfile.KindRun {
				p.Images[at].Rebuilds = true
				p.Commands[i].Rebuilt = describe(p.Images[at], op)
			}
		}
	}
}
