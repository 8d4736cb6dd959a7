package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// Native is the engine that needs nothing: it builds what has no RUN.
const Native = "native"

// Engine is a program that builds what needs RUN, as this machine has it.
type Engine struct {
	Name      string              // buildx or buildah
	Platforms []platform.Platform // that it can run programs of; nil is not known, and taken for all
	Missing   string              // why it cannot be used here; "" where it can
}

func (e Engine) runs(p platform.Platform) bool {
	return e.Platforms == nil || slices.Contains(e.Platforms, p)
}

// choose picks the engine of a leg, and says why. An empty engine means that
// nothing here can build it; why then says what would.
func (f Facts) choose(img Image, r *dockerfile.Recipe, p platform.Platform) (engine, why string) {
	op, needed := r.NeedsEngine()
	switch {
	case !needed && (f.Engine == "auto" || f.Engine == Native):
		return Native, "no RUN"
	case !needed:
		return f.external(p, "IMAGE_ENGINE="+f.Engine)
	case f.Engine == Native:
		return "", describe(img, op) + ", and IMAGE_ENGINE is native"
	}
	return f.external(p, describe(img, op))
}

// external is the first engine that is allowed, there, and able to run p.
func (f Facts) external(p platform.Platform, because string) (engine, why string) {
	var lacks []string
	for _, e := range f.Engines {
		switch {
		case f.Engine != "auto" && f.Engine != e.Name:
		case e.Missing != "":
			lacks = append(lacks, e.Name+": "+e.Missing)
		case !e.runs(p):
			lacks = append(lacks, fmt.Sprintf("%s: cannot run %s here", e.Name, p))
		default:
			return e.Name, because
		}
	}
	if len(lacks) == 0 {
		lacks = []string{"no engine"}
	}
	return "", because + "; " + strings.Join(lacks, "; ")
}

// Elsewhere are the facts for other machines, whose engines are not known: what
// needs an engine gets the first that is allowed, on every platform, and no leg
// is left out.
func (f Facts) Elsewhere() Facts {
	f.Engines, f.Optional = []Engine{{Name: "buildx"}, {Name: "buildah"}}, false
	return f
}

// describe says where the instruction stands that needs an engine.
func describe(img Image, op dockerfile.Op) string {
	what := map[dockerfile.Kind]string{
		dockerfile.KindRun: "RUN", dockerfile.KindGit: "a git source", dockerfile.KindFrontend: "its # syntax front end",
	}[op.Kind]
	if len(op.Ranges) == 0 {
		return fmt.Sprintf("%s in %s", what, img.Dockerfile)
	}
	return fmt.Sprintf("%s at %s:%d", what, img.Dockerfile, op.Ranges[0].Start.Line)
}

// optional reports whether a leg that nothing here can build may be left out:
// nobody asked for its platform, and nothing is published.
func (f Facts) optional(l Leg) bool {
	return f.Optional && l.Engine == "" && l.Platform != platform.Host()
}
