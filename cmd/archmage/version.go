package main

import (
	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/console"
)

func versionCommand(c *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: groupKeep,
		Example: `  archmage version`,
		Short:   "print version, revision and BuildKit front end",
		Args:    noArgs,
		Run: func(*cobra.Command, []string) {
			c.Result(build.ReadVersion().String())
		},
	}
}
