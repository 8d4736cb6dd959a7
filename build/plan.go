package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/verify"
)

// PlanOptions says how a plan is printed.
type PlanOptions struct {
	JSON    bool // the whole plan, versioned, with the jobs that CI would have
	GitHub  bool // the jobs alone, as the matrix of a workflow
	Verbose bool // what was passed over too, where each setting came from, and what is remembered
	Missing bool // of the legs, only those that are not published yet
	MaxJobs int  // group legs until there are no more jobs; 0 is one per leg that needs an engine

	Graph string // draw what comes from what: text or mermaid; "" does not
}

// Plan prints what would be built, who builds it, and why. It reads the
// repository alone, and with Missing what is published.
func (p *Project) Plan(ctx context.Context, o PlanOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	w, err := p.look(ctx, evaluator{Project: p, everything: true, elsewhere: o.GitHub})
	if err != nil {
		return err
	}
	// What CI would build does not depend on the engines that are here.
	runners, err := plan.New(w.facts.Elsewhere())
	if err != nil {
		return err
	}
	if p.NoVersion != "" {
		p.console.Note("VERSION is %s, as git cannot say: %s", p.Version, p.NoVersion)
	}
	if o.Missing {
		absent, err := p.absent(ctx, runners.Legs)
		if err != nil {
			return err
		}
		w.plan, runners = only(absent, w.plan), only(absent, runners)
	}
	p.summarizePlan(w.plan.Legs, o)
	switch {
	case o.GitHub:
		return p.printMatrix(runners, o)
	case o.JSON:
		jobs, err := p.jobs(runners, o)
		if err != nil {
			return err
		}
		return p.printJSON(planWithJobs{w.plan, jobs})
	}
	if o.Missing {
		w.plan = withLegs(w.plan)
		if len(w.plan.Legs)+len(w.plan.LeftOut) == 0 {
			p.console.Note("no leg is missing")
			return nil
		}
	}
	if o.Graph != "" {
		return p.printGraph(w, o.Graph)
	}
	var out bytes.Buffer
	if err := w.plan.Print(&out, o.Verbose); err != nil {
		return err
	}
	if o.Verbose {
		if err := errors.Join(printValues(&out, p.Values()), p.printCaches(&out)); err != nil {
			return err
		}
	}
	_, err = p.console.Write(out.Bytes())
	return err
}

// printGraph draws what comes from what.
func (p *Project) printGraph(w *work, format string) error {
	graph := w.plan.Graph(w.facts, p.indexes)
	if len(p.What) > 0 {
		graph.Unused = nil // nobody asked for them
	}
	draw := graph.Text
	if format == "mermaid" {
		draw = graph.Mermaid
	}
	var out bytes.Buffer
	if err := draw(&out); err != nil {
		return err
	}
	_, err := p.console.Write(out.Bytes())
	return err
}

// indexes are the references that an image's index gets: name:VERSION, and of
// further tags what is behind the colon.
func (p *Project) indexes(img plan.Image) []string {
	name := img.Name
	if p.Registry != "" {
		name = p.Registry + "/" + name
	}
	var refs []string
	for i, tag := range unique(append(append([]string{plan.BaseVersion(p.Leg, p.Version)}, p.Tags...), img.Tags...)) {
		if i > 0 {
			name = ""
		}
		refs = append(refs, name+":"+tag)
	}
	return refs
}

// planWithJobs is what plan --json prints.
type planWithJobs struct {
	*plan.Plan
	Jobs []plan.Job `json:"jobs"` // as CI would have them
}

func (p *Project) printJSON(value any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return err
	}
	_, err := p.console.Write(out.Bytes())
	return err
}

// work is what a verb works on: the selected images with their recipes, every
// command of the repository, and the plan that follows.
type work struct {
	images  []plan.Image
	recipes map[string][]*dockerfile.Recipe
	found   plan.Discovered // commands of the repository; none where no image copies one
	engines engines
	facts   plan.Facts
	plan    *plan.Plan
	bases   map[string]verify.BaseAnswer // what a registry says, where verify asked one
}

// look finds and evaluates what WHAT selects, and plans it.
func (p *Project) look(ctx context.Context, e evaluator) (*work, error) {
	all, skipped, err := p.images()
	if err != nil {
		return nil, err
	}
	selected, rest := plan.SelectImages(all, p.What)
	if err := errors.Join(plan.CheckNames(selected), plan.CheckPlatforms(selected)); err != nil {
		return nil, err
	}
	recipes, err := e.evaluate(ctx, selected)
	if err != nil {
		return nil, err
	}
	said, stop := e.asking(ctx, recipes)
	defer stop()
	found := e.found
	if found.Commands == nil && (len(rest) > 0 || e.everything || p.needCommands(recipes)) {
		if found, err = e.commands(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.checkRest(rest, all, found.Commands); err != nil {
		return nil, err
	}
	w := &work{images: selected, recipes: recipes, found: found, engines: said()}
	w.facts = plan.Facts{
		Platforms: p.Platforms, Bin: p.Bin, Leg: p.Leg, Version: p.Version,
		Engine: p.Engine, Engines: w.engines.list, Optional: !p.PlatformsSet && !p.Push,
		Commands: found.Commands, Skipped: append(skipped, found.Skipped...), Images: selected, Recipes: recipes,
	}
	if e.elsewhere {
		w.facts = w.facts.Elsewhere()
	}
	w.plan, err = plan.New(w.facts)
	if err == nil {
		err = p.checkNames(w.plan.Images)
	}
	return w, err
}

// checkNames refuses repositories that no registry would take, before anything
// is done. Tags are checked where they are made.
func (p *Project) checkNames(images []plan.Image) error {
	var errs []error
	for _, img := range images {
		if p.Registry != "" {
			errs = append(errs, registry.CheckRepository(p.Registry+"/"+img.Name))
		}
	}
	return errors.Join(errs...)
}

// checkRest judges what WHAT names and no image is called.
func (p *Project) checkRest(rest []string, images []plan.Image, commands []plan.Command) error {
	named, unknown := plan.SelectCommands(commands, rest)
	if len(rest) == 0 {
		return nil
	}
	if len(unknown) > 0 {
		return plan.Unknown(unknown, images, commands)
	}
	return Usage("compile and binaries build it; to make an image, add cmd/"+named[0].Name+"/Dockerfile",
		"WHAT %s: a command without an image of its own", named[0].Name)
}
