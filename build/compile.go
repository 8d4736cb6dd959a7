package build

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/compile"
	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
)

// Compile compiles every command, or those that WHAT names, for every platform.
// A command that its own image compiles from source is left out, and said so.
// The path of each binary is printed.
func (p *Project) Compile(ctx context.Context) error {
	evaluated := make(chan evaluated, 1) // while the go command works
	go func() { evaluated <- p.evaluated(ctx) }()
	found, err := plan.Commands(ctx, p.runner, p.Root, p.Platforms, p.goEnv()...)
	if err != nil {
		return err
	}
	commands, err := p.selectedCommands(found)
	if err != nil {
		return err
	}
	rebuilt := p.rebuilt(found.Commands, <-evaluated)
	facts := plan.Facts{Platforms: p.Platforms, Bin: p.Bin}
	var binaries []plan.Binary
	for _, c := range commands {
		if why := rebuilt[c.Name]; why != "" {
			p.console.Event("compile", c.Name, "left out: its image compiles it from source, "+why)
			continue
		}
		for _, pl := range p.Platforms {
			if slices.Contains(c.Platforms, pl) {
				binaries = append(binaries, facts.Binary(c, pl))
			}
		}
	}
	if len(binaries) == 0 {
		p.console.Event("compile", "nothing", "no command to compile")
		return nil
	}
	err = p.compile(ctx, binaries)
	p.summarizeBinaries("compile")
	for _, b := range binaries {
		if err == nil {
			p.result(b.Path)
		}
	}
	return err
}

// selectedCommands are the commands that WHAT names: by name or directory, and
// by the image they are in.
func (p *Project) selectedCommands(found plan.Discovered) ([]plan.Command, error) {
	commands, rest := plan.SelectCommands(found.Commands, p.What)
	if len(rest) == 0 {
		return commands, nil
	}
	images, _, err := p.images()
	if err != nil {
		return nil, err
	}
	return nil, plan.Unknown(rest, images, found.Commands)
}

// evaluated is every image of the repository whose Dockerfile can be evaluated.
type evaluated struct {
	images  []plan.Image
	recipes map[string][]*dockerfile.Recipe
	failed  []string // of each other one, why
}

// evaluated evaluates what can be. compile does not depend on Dockerfiles.
func (p *Project) evaluated(ctx context.Context) evaluated {
	out := evaluated{recipes: map[string][]*dockerfile.Recipe{}}
	images, _, err := p.images()
	if err != nil {
		return out
	}
	recipes := make([]map[string][]*dockerfile.Recipe, len(images))
	errs := make([]error, len(images))
	var group errgroup.Group
	group.SetLimit(p.Jobs)
	for i, img := range images {
		group.Go(func() error {
			recipes[i], errs[i] = evaluator{Project: p}.evaluate(ctx, []plan.Image{img})
			return nil
		})
	}
	_ = group.Wait()
	for i, img := range images {
		if errs[i] != nil {
			out.failed = append(out.failed, fmt.Sprintf("%s is passed over: %v", img.Dockerfile, errs[i]))
			continue
		}
		out.images = append(out.images, img)
		maps.Copy(out.recipes, recipes[i])
	}
	return out
}

// rebuilt says of each command that needs no binary why.
func (p *Project) rebuilt(commands []plan.Command, from evaluated) map[string]string {
	why := map[string]string{}
	for _, text := range from.failed {
		p.console.Note("%s", text)
	}
	planned, err := plan.New(plan.Facts{
		Platforms: p.Platforms, Bin: p.Bin, Leg: p.Leg, Version: p.Version,
		Commands: commands, Images: from.images, Recipes: from.recipes,
	})
	if err != nil {
		return why
	}
	for _, c := range planned.Commands {
		why[c.Name] = c.Rebuilt
	}
	return why
}

// compile makes binaries and checks each before it gets its name.
func (p *Project) compile(ctx context.Context, binaries []plan.Binary) error {
	if len(binaries) == 0 {
		return nil
	}
	if err := p.ownBin(binaries); err != nil {
		return err
	}
	keep, release, err := p.keep()
	if err != nil {
		return err
	}
	defer release()
	if !p.DryRun {
		p.console.Expect("binaries", binarySubjects(binaries))
		defer p.console.Settle()
	}
	return compile.Run(ctx, p.runner, binaries, compile.Options{
		Root: p.Root, Keep: keep, Jobs: p.Jobs, Disk: p.disk,
		LDFlags: p.LDFlags, GoFlags: p.GoFlags, CGO: p.CGO, CC: p.CC,
		VersionPkg: p.VersionPkg, Version: p.binaryVersion(),
		Check: p.checkBinary, Start: p.compiling, Event: p.compiled,
	})
}

// goEnv is what commands have to be looked for under, so that those are found
// which can be compiled.
func (p *Project) goEnv() []string {
	env := []string{"CGO_ENABLED=0"}
	if p.CGO {
		env[0] = "CGO_ENABLED=1"
	}
	if p.GoFlags != "" {
		env = append(env, "GOFLAGS="+p.GoFlags)
	}
	return env
}

func (p *Project) binaryVersion() string {
	if p.BinaryVersion != "" {
		return p.BinaryVersion
	}
	return plan.BaseVersion(p.Leg, p.Version)
}

// checkBinary judges what the go command made.
func (p *Project) checkBinary(path string, pl platform.Platform) error {
	findings, err := audit.BinaryFile(path, pl, audit.BinaryOptions{CGO: p.CGO})
	if err != nil {
		return err
	}
	return p.judge(findings)
}

// judge makes an error of the findings that are decided; with IMAGE_VERIFY off
// they are printed and stop nothing.
func (p *Project) judge(findings []audit.Finding) error {
	err := audit.Wrong(findings)
	if err == nil || p.Settings.Verify {
		return err
	}
	p.console.Warn("%v", err)
	return nil
}
