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
			Use:     "verify",
			GroupID: groupCheck,
			Example: `  archmage verify
  archmage verify --fix --dry-run
  archmage verify --format sarif --severity UnpinnedBase=error --pedantic`,
			Short: "find Dockerfiles that would put a wrong binary into an image",
			Long: `Evaluates each Dockerfile for every platform and compares what it copies.
BuildKit's own lint is part of it; see docs/verify.md. Reads no registry, unless
--bases asks it for every base, and builds nothing. Exit code 4 with errors, and
with --strict with warnings too.`,
		},
		groups: []config.Group{config.GroupWhat, config.GroupImage},
		also:   []string{"IMAGE_FORCE"},
		reads:  true,
		run:    func(ctx context.Context, p *build.Project) error { return p.Verify(ctx, o) },
	}
	v.Flags().BoolVar(&o.Fix, "fix", false, "write what has one right answer, then judge; not into files with uncommitted changes")
	v.Flags().BoolVarP(&o.DryRun, "dry-run", "n", false, "with --fix: print a diff, write nothing")
	v.Flags().StringVar(&o.Format, "format", "text", "text, json, github (workflow annotations) or sarif")
	v.Flags().BoolVar(&o.Strict, "strict", false, "exit 4 with warnings too")
	v.Flags().BoolVar(&o.Pedantic, "pedantic", false, "also what is only advice")
	v.Flags().StringSliceVar(&o.Severity, "severity", nil, "how rules count: Rule=off,Other=error; or warning")
	completeFlag(&v.Command, "format", "text", "json", "github", "sarif")
	_ = v.RegisterFlagCompletionFunc("severity", completeSeverities)
	v.Flags().Lookup("severity").DefValue = ""
	v.Flags().BoolVar(&o.Bases, "bases", false, "ask the registry for every base image too")
	return v
}
