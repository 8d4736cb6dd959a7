package build

import (
	"context"
	"fmt"
	"maps"
	"path"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
)

// foretell tells of a leg that a dry run does not build: the layers that it would
// get, and where it would go. Its receipt has no digest.
func (l legs) foretell(ctx context.Context, push publish.Push, recipe *dockerfile.Recipe) (publish.Receipt, error) {
	r, depends, err := publish.Foretell(ctx, push)
	if err != nil {
		return r, err
	}
	if push.Engine == plan.Native { // what engines do, their commands say
		l.wouldBuild(push, recipe)
	}
	l.console.Would("push", r.Name+":"+r.Tag+" (digest known after the build: "+depends+")")
	if !l.repos.remote {
		return r, l.disk.Write(l.path(path.Join(r.Name, "index.json")), nil)
	}
	return r, nil
}

// wouldBuild tells of the layers on the base, by the instructions that make them,
// and of the steps that those copy from.
func (l legs) wouldBuild(push publish.Push, r *dockerfile.Recipe) {
	from := "scratch"
	if b := r.FinalBase; b != nil {
		from = b.Ref
		if b.Digest != "" && path.Base(b.Ref) != b.Digest {
			from = fmt.Sprintf("%s (%s)", b.Ref, b.Digest)
		}
	}
	leg := push.Image + " " + push.Leg.Platform.String()
	l.console.Would("build", leg+" from "+from)
	layers := layersOf(r, r.Result)
	for i, op := range r.Ops {
		switch {
		case layers[i]:
			l.console.Would("layer", leg+" "+op.Name)
		case op.File != nil: // of another stage
			l.console.Would("step", leg+" "+op.Name)
		}
	}
}

// layersOf are the operations that add a layer to the tree of one.
func layersOf(r *dockerfile.Recipe, of int) map[int]bool {
	found := map[int]bool{}
	if of == dockerfile.Scratch {
		return found
	}
	switch op := r.Ops[of]; op.Kind {
	case dockerfile.KindFile:
		found = layersOf(r, op.File.Parent)
		found[of] = true
	case dockerfile.KindMerge:
		for _, in := range op.Inputs {
			maps.Copy(found, layersOf(r, in))
		}
	}
	return found
}

// foretold reports whether a dry run told of a leg, of which there is no image.
func (p *Project) foretold(leg plan.Leg) bool { return p.DryRun && leg.Engine != "" }
