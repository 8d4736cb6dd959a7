package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
)

func promoteVerb() verb {
	var o build.PublishOptions
	v := verb{
		Command: cobra.Command{
			Use:     "promote",
			GroupID: groupPublish,
			Example: `  archmage promote --registry ghcr.io/org --source-version v1.2.3 --tags latest --if-newest
  archmage promote --registry ghcr.io/org --from ghcr.io/org/staging --source-version v1.2.3`,
			Short: "move IMAGE_TAGS and VERSION to what SOURCE_VERSION names",
			Long: `Moves IMAGE_TAGS, and VERSION where that is set and not SOURCE_VERSION, to what
SOURCE_VERSION names: the same bytes, so the same digest, of every image or of
none. In REGISTRY, or in dist/ without one; with --from, images are copied from
other repositories to REGISTRY. Exit code 3 where a source is missing. latest
takes a stable SOURCE_VERSION alone, and none that is lower than the one it
names; a branch's tag never goes back to an older commit. With --if-newest, such a
tag stays where it is, of all images, and that is no error: what the release of a
patch for an older version wants.`,
		},
		groups: []config.Group{config.GroupWhat, config.GroupImage, config.GroupRegistry, config.GroupRun},
		run:    func(ctx context.Context, p *build.Project) error { return p.Promote(ctx, o) },
	}
	v.Flags().StringVar(&o.From, "from", "", "copy images from repositories with this prefix, e.g. ghcr.io/org/staging")
	v.Flags().BoolVar(&o.IfNewest, "if-newest", false, "leave a tag, with a note, where what it names is newer, or latest takes no such version")
	v.Flags().BoolVar(&o.Referrers, "referrers", false, "with --from, copy signatures and attestations too: OCI referrers and sha256-… tags")
	return v
}
