package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
)

func planVerb() verb {
	var o build.PlanOptions
	v := verb{
		Command: cobra.Command{
			Use:   "plan",
			Short: "print commands, images, platforms, and who builds what and why",
			Long: `Prints what would be built, and why: commands, binaries, images, the engine of
each image on each platform. It compiles nothing, and reads no registry but with
--missing.`,
		},
		groups: allGroups,
		run:    func(ctx context.Context, p *build.Project) error { return p.Plan(ctx, o) },
	}
	v.Flags().BoolVar(&o.JSON, "json", false, "print the whole plan as JSON")
	v.Flags().BoolVar(&o.Missing, "missing", false, "of the legs, only those that REGISTRY, or dist/ without one, has not")
	v.Flags().BoolVarP(&o.Verbose, "verbose", "v", false, "also what was passed over and why, and where each setting came from")
	return v
}
