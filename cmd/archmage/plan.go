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
			Use:     "plan",
			GroupID: groupSee,
			Example: `  archmage plan
  archmage plan --what app --platforms linux/amd64,linux/arm64
  archmage plan --graph
  archmage plan --github --missing --registry ghcr.io/org`,
			Short: "print commands, images, platforms, and who builds what and why",
			Long: `Prints what would be built, and why: commands, binaries, images, the engine of
each image on each platform. It compiles nothing, and reads no registry but with
--missing.

--github prints the jobs of a CI run as the matrix of a GitHub workflow, and
appends the same two lines to GITHUB_OUTPUT: matrix={"include":[…]}, and empty,
true where nothing is missing. Images without RUN are cross-built in one job; each
other one has a job per platform, on the runner that IMAGE_RUNNERS names. With
--json the same jobs are part of the plan. Neither depends on the engines of this
machine.

--graph draws what comes from what: commands, binaries and bases, images, indexes.
--graph=mermaid draws it for Markdown.`,
		},
		groups: allGroups,
		reads:  true,
		run:    func(ctx context.Context, p *build.Project) error { return p.Plan(ctx, o) },
	}
	v.Flags().BoolVar(&o.JSON, "json", false, "print the whole plan as JSON")
	v.Flags().BoolVar(&o.GitHub, "github", false, "print the jobs as the matrix of a GitHub workflow")
	v.Flags().BoolVar(&o.Missing, "missing", false, "of the legs, only those that REGISTRY, or dist/ without one, has not from this commit")
	v.Flags().IntVar(&o.MaxJobs, "max-jobs", 0, "group legs, of one runner each, into no more jobs than this")
	v.Flags().StringVar(&o.Graph, "graph", "", "draw what comes from what: text or mermaid")
	v.Flags().Lookup("graph").NoOptDefVal = "text"
	completeFlag(&v.Command, "graph", "text", "mermaid")
	v.Flags().BoolVarP(&o.Verbose, "verbose", "v", false, "also what was passed over and why, where each setting came from, and the size of the caches")
	return v
}
