package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
)

func auditVerb() verb {
	var o build.AuditOptions
	v := verb{
		Command: cobra.Command{
			Use:     "audit [REF…]",
			GroupID: groupCheck,
			Example: `  archmage audit
  archmage audit ghcr.io/org/app:v1.2.3
  archmage audit --json dist/app`,
			Short: "find published images that hold something else than they say",
			Long: `Reads images back and compares what index, config, base, programs, interpreters
and libraries say: of a tag or digest in any registry, of a layout (dist/app,
dist/app:v1-arm64), or without REF of everything in dist/. Exit code 4 with
findings, 3 where a REF is absent or denied, or nothing is there.

What cannot be decided is printed as not checked, and is no finding. With --json:
version (1), refs (each with ref, digest, platforms, programs), findings and
notChecked (each with ref, platform, message, and fix where there is one).

With --diff A B it says how two references differ: annotation, config key, and of
each layer the file and what of it. Exit code 0 where their digests are equal, 4
where not, 3 where one is absent. With --json: version (1), a and b (ref, digest),
equal, platforms, differences (each with platform, in, path, what, a, b), omitted
(further ones, beyond 1000) and notChecked.`,
			Args: func(_ *cobra.Command, args []string) error {
				o.Refs = args
				return nil
			},
		},
		groups: []config.Group{config.GroupWhat, config.GroupImage, config.GroupRegistry, config.GroupRun},
		run:    func(ctx context.Context, p *build.Project) error { return p.Audit(ctx, o) },
	}
	v.Flags().BoolVar(&o.JSON, "json", false, "print what was found as JSON")
	v.Flags().BoolVar(&o.Diff, "diff", false, "say how the two references A and B differ")
	return v
}
