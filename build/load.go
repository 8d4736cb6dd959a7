package build

import (
	"context"
	"errors"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/image"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
)

// load puts this machine's leg of every image into docker or podman, under its
// plain tag, so that compose and `kind load docker-image` find it. built has
// the images by leg; what was not built is nil.
//
// LOAD=auto loads where a store answers and nothing is pushed. LOAD=true fails
// where none does.
func (p *Project) load(ctx context.Context, legs []plan.Leg, built []v1.Image) error {
	if p.Load == "false" || p.Load == "auto" && p.Push {
		return nil
	}
	store, missing := p.store(ctx)
	if missing != nil {
		if p.Load == "auto" {
			p.console.Note("not loaded: %v", missing)
			return nil
		}
		return missing
	}
	var errs []error
	loaded := 0
	for i, leg := range legs {
		if leg.Platform != platform.Host() || built[i] == nil && !p.foretold(leg) {
			continue
		}
		loaded++
		if p.DryRun {
			errs = append(errs, store.Runner.Run(ctx, store.LoadCommand(nil)))
			continue
		}
		ref := p.plainTag(leg.Image)
		err := store.Load(ctx, ref, built[i])
		if err == nil {
			p.console.Event("load", leg.Image+" "+leg.Platform.String(), "into "+store.Tool+" as "+ref)
		}
		errs = append(errs, err)
	}
	if loaded == 0 {
		p.console.Note("nothing to load: no image was built for %s, which this machine runs", platform.Host())
	}
	return errors.Join(errs...)
}

// plainTag is what an image is called without a leg's suffix.
func (p *Project) plainTag(image string) string {
	name := image + ":" + plan.BaseVersion(p.Leg, p.Version)
	if p.Registry != "" {
		name = p.Registry + "/" + name
	}
	return name
}

// store is the first of CONTAINER_TOOL and podman that answers.
func (p *Project) store(ctx context.Context) (image.Store, error) {
	var errs []error
	for _, tool := range unique([]string{p.ContainerTool, "podman"}) {
		s := image.Store{Runner: p.runner, Tool: tool}
		err := s.Answers(ctx)
		if err == nil {
			return s, nil
		}
		errs = append(errs, err)
	}
	return image.Store{}, &noStore{errs}
}

// noStore says that there is nothing to load into.
type noStore struct{ tried []error }

func (e *noStore) Error() string {
	text := "no docker or podman to load into"
	for i, err := range e.tried {
		if i == 0 {
			text += " ("
		} else {
			text += "; "
		}
		text += lastLine(err)
	}
	return text + ")"
}

// Hint is the line to show below the error.
func (e *noStore) Hint() string { return "start docker or podman, or leave LOAD unset" }
