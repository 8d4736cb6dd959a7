package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
)

func cleanVerb() verb {
	var o build.CleanOptions
	v := verb{
		Command: cobra.Command{
			Use:     "clean",
			GroupID: groupKeep,
			Example: `  archmage clean
  archmage clean --cache -n`,
			Short: "remove what archmage made here, and nothing else",
			Long: `Removes the output directory, if archmage's mark is in it, and the binaries that
archmage compiled. Everything else stays.

With --cache it removes instead what archmage remembers between runs, of all
repositories of this user: listings of base layers, digests, compiled programs.
The next run is slower, and no different. What another archmage compiles just now
stays. As clean knows binaries by what is kept there, run clean first to have
both removed.`,
		},
		groups: []config.Group{config.GroupWhat, config.GroupImage},
		run:    func(ctx context.Context, p *build.Project) error { return p.Clean(ctx, o) },
	}
	v.Flags().BoolVar(&o.Cache, "cache", false, "instead, what archmage remembers between runs of any repository")
	return v
}
