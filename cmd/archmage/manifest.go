package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
)

func manifestVerb() verb {
	var o build.PublishOptions
	v := verb{
		Command: cobra.Command{
			Use:     "manifest",
			GroupID: groupPublish,
			Example: `  archmage manifest --registry ghcr.io/org --version v1.2.3 --tags latest
  archmage manifest --registry ghcr.io/org --version v1.2.3 -n`,
			Short: "join the legs of every image under VERSION and IMAGE_TAGS",
			Long: `Reads the legs of every image, checks that they are complete and what they claim
to be, and writes one index per image: to REGISTRY, or to dist/ without one. No
tag moves unless all images are complete. Exit code 3 where a leg is missing.
latest takes a stable SOURCE_VERSION alone, and none that is lower than the one
it names; a branch's tag never goes back to an older commit.`,
		},
		groups: []config.Group{config.GroupWhat, config.GroupImage, config.GroupRegistry, config.GroupRun},
		run:    func(ctx context.Context, p *build.Project) error { return p.Manifest(ctx, o) },
	}
	v.Flags().StringVar(&o.From, "from", "", "copy the legs from repositories with this prefix, e.g. ghcr.io/org/staging")
	return v
}
