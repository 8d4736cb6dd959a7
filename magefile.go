//go:build mage

// The project's own magefile: the verbs of archmage as Mage targets.
package main

import (
	//mage:import
	_ "github.com/archmage-go/archmage/build/targets"
)
