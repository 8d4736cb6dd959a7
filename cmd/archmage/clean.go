package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
)

func cleanVerb() verb {
	return verb{
		Command: cobra.Command{
			Use:   "clean",
			Short: "remove what archmage made here, and nothing else",
			Long: `Removes the output directory, if archmage's mark is in it, and the binaries that
archmage compiled. Everything else stays.`,
		},
		groups: []config.Group{config.GroupWhat, config.GroupImage},
		run:    func(ctx context.Context, p *build.Project) error { return p.Clean(ctx) },
	}
}
