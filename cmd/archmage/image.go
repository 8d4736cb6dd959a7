package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
)

func imageVerb() verb {
	return verb{
		Command: cobra.Command{
			Use:     "image",
			GroupID: groupBuild,
			Example: `  archmage image
  archmage image --push --registry ghcr.io/org --version v1.2.3
  archmage image --what app --platforms linux/arm64 -n`,
			Short: "verify, compile, and build every image for every platform",
			Long: `Builds every image for every platform: to dist/<image> as an OCI layout, or with
PUSH to REGISTRY/<image>, each leg under its own tag. Prints one reference per
leg. Shared tags are written by manifest alone.`,
		},
		groups: allGroups,
		run:    func(ctx context.Context, p *build.Project) error { return p.Image(ctx) },
	}
}
