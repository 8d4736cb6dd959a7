package main

import (
	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
)

// later are verbs that are designed and not built yet. They are refused by name
// rather than as unknown, so that nobody looks for a typing error.
var later = []string{"init"}

func addLater(root *cobra.Command) {
	for _, name := range later {
		root.AddCommand(&cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return build.Usage("", "%s: not yet", name)
			},
		})
	}
}
