package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
)

func inspectVerb() verb {
	var o build.InspectOptions
	v := verb{
		Command: cobra.Command{
			Use:     "inspect [REF]",
			GroupID: groupSee,
			Example: `  archmage inspect
  archmage inspect ghcr.io/org/app:v1.2.3
  archmage inspect --revision dist/app:v1.2.3`,
			Short: "print platforms, digests and revision of what is published",
			Long: `Prints what REF names: platforms, digests, sizes, media types, revision, time and
annotations. REF is registry/name:tag, name@digest, a layout such as dist/app,
or the name of an image here, which is REGISTRY/name:VERSION; without REF, all
images here. Exit code 3 where it is absent, or the registry says no more than
that it is not permitted; 1 where that is not known.`,
			Args: func(_ *cobra.Command, args []string) error {
				if len(args) > 1 {
					return build.Usage("", "inspect: takes one REF, got %s", strings.Join(args, " "))
				}
				o.Ref = strings.Join(args, "")
				return nil
			},
		},
		groups: []config.Group{config.GroupWhat, config.GroupImage, config.GroupRegistry, config.GroupRun},
		run:    func(ctx context.Context, p *build.Project) error { return p.Inspect(ctx, o) },
	}
	v.Flags().BoolVar(&o.JSON, "json", false, "print it as JSON, version 1")
	v.Flags().BoolVar(&o.Revision, "revision", false, "print the revision alone, where all images agree")
	return v
}
