package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
)

func initVerb() verb {
	var o build.InitOptions
	v := verb{
		Command: cobra.Command{
			Use:     "init",
			GroupID: groupKeep,
			Example: `  archmage init
  archmage init --write --github`,
			Short: "propose what a repository needs to use archmage, and write it",
			Long: `Tells what is there (Makefile, magefiles, Dockerfiles, workflows, module) and
prints a diff of what it would add; --write writes it. Files that are there get
lines at their end, once, and no file is replaced; go.mod and go.sum stay as they
are: archmage lives in a module of its own, tools/archmage.mod.`,
		},
		groups: []config.Group{config.GroupWhat},
		also:   []string{"REGISTRY", "IMAGE_OUT", "IMAGE_FORCE"},
		run:    func(ctx context.Context, p *build.Project) error { return p.Init(ctx, o) },
	}
	v.Flags().BoolVarP(&o.Write, "write", "w", false, "write it; not into files with uncommitted changes")
	v.Flags().BoolVar(&o.GitHub, "github", false, "a release workflow too: .github/workflows/release.yml")
	return v
}
