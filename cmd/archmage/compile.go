package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
)

func compileVerb() verb {
	return verb{
		Command: cobra.Command{
			Use:     "compile",
			GroupID: groupBuild,
			Example: `  archmage compile
  archmage compile --what app --platforms linux/arm64`,
			Short: "cross-compile every command to bin/<name>-<os>-<arch>",
			Long: `Compiles every command for every platform, in parallel, and checks that each
file is what it claims to be. A command that its own image compiles from source
is left out. Prints the path of each binary.`,
		},
		groups: []config.Group{config.GroupWhat, config.GroupGo, config.GroupRegistry, config.GroupRun},
		run:    func(ctx context.Context, p *build.Project) error { return p.Compile(ctx) },
	}
}
