package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
)

func binariesVerb() verb {
	return verb{
		Command: cobra.Command{
			Use:     "binaries",
			GroupID: groupBuild,
			Example: `  archmage binaries --version v1.2.3
  archmage binaries --what app --release-platforms linux/amd64,darwin/arm64 --version v1.2.3`,
			Short: "compile release binaries and their checksums to dist/release",
			Long: `Compiles the commands in WHAT for RELEASE_PLATFORMS to
dist/release/<name>-<os>-<arch>[.exe], and writes a checksums.txt of exactly
these, in the format of sha256sum.`,
		},
		groups: []config.Group{config.GroupWhat, config.GroupGo, config.GroupRegistry, config.GroupRun},
		run:    func(ctx context.Context, p *build.Project) error { return p.Binaries(ctx) },
	}
}
