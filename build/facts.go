package build

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// images finds every image of the repository.
func (p *Project) images() ([]plan.Image, []plan.Skipped, error) {
	root, err := p.fsys()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	declared := make([]plan.Image, len(p.Images))
	for i, d := range p.Images {
		declared[i] = plan.Image{
			Name: d.Name, Dockerfile: d.Dockerfile, Context: d.Context, Target: d.Target, BuildArgs: d.BuildArgs,
			Labels: d.Labels, Platforms: d.Platforms, Tags: d.Tags, Timeout: d.Timeout,
			Secrets: d.Secrets, SSH: d.SSH,
		}
	}
	images, skipped, err := plan.Images(plan.Layout{Root: p.Root, FS: root.FS(), Dirs: p.Dirs, Declared: declared, Platforms: p.Platforms})
	for i, img := range images {
		images[i].BuildArgs = merged(p.BuildArgs, img.BuildArgs)
		if img.Target == "" {
			images[i].Target = p.Target
		}
	}
	return images, skipped, err
}

// merged is a with b's entries on top; nil where both are empty.
func merged(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	m := map[string]string{}
	maps.Copy(m, a)
	maps.Copy(m, b)
	return m
}

// evaluator makes recipes, of many images and platforms at once.
type evaluator struct {
	*Project
	bases      dockerfile.BaseResolver                                      // nil is offline
	labels     func(img plan.Image, r *dockerfile.Recipe) map[string]string // nil adds none
	everything bool                                                         // look for commands even where no image copies one
	guess      bool                                                         // commands may be read from package clauses where go cannot list them
	elsewhere  bool                                                         // plan for machines whose engines are not known, and ask none here
	unasked    bool                                                         // ask no engine yet: whoever looks again does
	start      bool                                                         // start a builder that is not running, to ask it
	overlay    map[string][]byte                                            // see dockerfile.Input
	found      plan.Discovered                                              // what an earlier look found; without commands they are looked for
}

// commands finds those of the repository. Who judges and compiles nothing can do
// with a guess where the go command does not answer: a module may be in want of
// a newer one, or of the network.
func (e evaluator) commands(ctx context.Context) (plan.Discovered, error) {
	found, err := plan.Commands(ctx, e.runner, e.Root, e.Platforms, e.goEnv()...)
	if err == nil || !e.guess || ctx.Err() != nil || is[*plan.UsageError](err) {
		return found, err
	}
	guessed, guessErr := plan.Guess(e.Root, e.Platforms)
	if guessErr != nil {
		return found, errors.Join(err, guessErr)
	}
	e.console.Warn("commands are those that package clauses name, since go cannot list them: %v", err)
	return guessed, nil
}

// evaluate makes the recipes of every image, by name, in the order of its
// platforms. All that is wrong is reported, each once.
func (e evaluator) evaluate(ctx context.Context, images []plan.Image) (map[string][]*dockerfile.Recipe, error) {
	recipes := map[string][]*dockerfile.Recipe{}
	var errs [][]error
	var group errgroup.Group
	group.SetLimit(e.atOnce())
	for i, img := range images {
		list := make([]*dockerfile.Recipe, len(img.Platforms))
		failed := make([]error, len(img.Platforms))
		recipes[img.Name], errs = list, append(errs, failed)
		for j, pl := range images[i].Platforms {
			group.Go(func() error {
				list[j], failed[j] = e.recipe(ctx, img, pl)
				return nil
			})
		}
	}
	_ = group.Wait()
	return recipes, joinImages(errs)
}

// atOnce is how many recipes are made at once: those that ask for bases wait for
// registries most of the time.
func (e evaluator) atOnce() int {
	if e.bases == nil {
		return e.Jobs
	}
	return requests(e.Settings)
}

// joinImages joins the errors of all images. A Dockerfile that is wrong for
// every platform is reported once.
func joinImages(errs [][]error) error {
	var all []error
	seen := map[string]bool{}
	for _, perImage := range errs {
		for _, err := range perImage {
			if err != nil && !seen[withoutGuess(err)] {
				seen[withoutGuess(err)] = true
				all = append(all, err)
			}
		}
	}
	return errors.Join(all...)
}

// withoutGuess is an error's text up to the front end's suggestion, which is
// another one each time where two words are equally near.
func withoutGuess(err error) string {
	text, _, _ := strings.Cut(err.Error(), " (did you mean ")
	return text
}

// recipe evaluates one image for one platform. Labels may follow from what it is
// built on, so with labels it is evaluated once more, which costs less than a
// millisecond.
func (e evaluator) recipe(ctx context.Context, img plan.Image, pl platform.Platform) (*dockerfile.Recipe, error) {
	in := e.input(img, pl)
	r, err := dockerfile.Evaluate(ctx, in)
	if err != nil && e.bases != nil && !is[*registry.NoPlatformError](err) {
		if offline := withoutBases(ctx, in); offline != nil {
			in.Bases, r, err = nil, offline, nil
		}
	}
	if err != nil || e.labels == nil {
		return r, err
	}
	in.Labels = e.labels(img, r)
	return dockerfile.Evaluate(ctx, in)
}

// withoutBases is the recipe of an image that an engine builds: that may have
// bases, or reach them, where archmage does not. Others have none.
func withoutBases(ctx context.Context, in dockerfile.Input) *dockerfile.Recipe {
	in.Bases = nil
	r, err := dockerfile.Evaluate(ctx, in)
	if err != nil {
		return nil
	}
	if _, needed := r.NeedsEngine(); !needed {
		return nil
	}
	return r
}

func (e evaluator) input(img plan.Image, pl platform.Platform) dockerfile.Input {
	return dockerfile.Input{
		Root: e.Root, Context: e.path(img.Context), Dockerfile: img.Dockerfile,
		Platform: pl, Target: img.Target, Args: img.BuildArgs, Epoch: e.Epoch, Bases: e.bases,
		Omit: []string{relative(img.Context, e.Out)}, Overlay: e.overlay,
	}
}

// relative is a path of the repository as the context sees it. What lies
// outside begins with ../.
func relative(context, name string) string {
	if context == "" || context == "." {
		return name
	}
	if rest, ok := strings.CutPrefix(name, context+"/"); ok {
		return rest
	}
	return path.Join(strings.Repeat("../", strings.Count(context, "/")+1), name)
}

// needCommands reports whether any recipe copies from where binaries are. Only
// then are commands looked for: a repository without any needs no go command.
func (p *Project) needCommands(recipes map[string][]*dockerfile.Recipe) bool {
	dir, _, _ := strings.Cut(p.Bin, "/")
	if strings.Contains(dir, "{") {
		return true
	}
	for _, list := range recipes {
		for _, r := range list {
			if slices.ContainsFunc(r.ContextCopies(), func(c dockerfile.ContextCopy) bool { return takesFrom(c, dir) }) {
				return true
			}
		}
	}
	return false
}

func takesFrom(c dockerfile.ContextCopy, dir string) bool {
	return slices.ContainsFunc(c.Paths, func(source string) bool {
		first, _, _ := strings.Cut(source, "/")
		ok, _ := path.Match(first, dir)
		return ok
	})
}
