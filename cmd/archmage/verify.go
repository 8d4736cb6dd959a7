package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
)

func verifyVerb() verb {
	var o build.VerifyOptions
	v := verb{
		Command: cobra.Command{
			Use:   "verify",
			Short: "find Dockerfiles that would put a wrong binary into an image",
			Long: `Evaluates each Dockerfile for every platform and compares what it copies.
Reads no registry and builds nothing. Exit code 4 with findings.`,
		},
		groups: []config.Group{config.GroupWhat, config.GroupImage},
		run:    func(ctx context.Context, p *build.Project) error { return p.Verify(ctx, o) },
	}
	v.Flags().StringVar(&o.Format, "format", "text", "text or json")
	return v
}
