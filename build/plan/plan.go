// Package plan discovers what a repository holds and decides what is built, as
// data: a [Plan] can be written as JSON and read back, and everything else (the
// table that people see, the work of every stage, a CI matrix) is a view of it.
package plan

import (
	"time"

	"github.com/archmage-go/archmage/build/platform"
)

// Version is the version of the JSON form; fields are only ever added to it.
const Version = 1

// Plan says what is built, in a fixed order: platforms as the user listed them,
// all else sorted by name.
type Plan struct {
	Version  int       `json:"version"`
	Commands []Command `json:"commands"`
	Skipped  []Skipped `json:"skipped"` // directories that hold no command or image, and why
	Binaries []Binary  `json:"binaries"`
	Images   []Image   `json:"images"`
	Legs     []Leg     `json:"legs"`
	LeftOut  []Leg     `json:"left_out,omitempty"` // that nobody asked for and nothing here can build
}

// Binary is one command to compile for one platform.
type Binary struct {
	Command  string            `json:"command"`
	Package  string            `json:"package"` // import path
	Module   string            `json:"module"`  // directory of its module, slash path from the root
	Platform platform.Platform `json:"platform"`
	Path     string            `json:"path"`           // slash path from the root
	Also     []string          `json:"also,omitempty"` // further names of the same file, without the variant
}

// Image is what is published under one name. Discovery fills in what the
// repository says of it, [New] the rest.
type Image struct {
	Name       string              `json:"name"`
	Dockerfile string              `json:"dockerfile"`        // slash path from the root
	Context    string              `json:"context,omitempty"` // likewise; "" is the root
	Target     string              `json:"target,omitempty"`
	Platforms  []platform.Platform `json:"platforms"` // in the order of IMAGE_PLATFORMS
	BuildArgs  map[string]string   `json:"build_args,omitempty"`
	Labels     map[string]string   `json:"labels,omitempty"`
	Tags       []string            `json:"tags,omitempty"` // further shared tags of this image alone
	Timeout    time.Duration       `json:"timeout,omitempty"`
	Secrets    []string            `json:"secrets,omitempty"` // for engines; they name secrets, they hold none
	SSH        []string            `json:"ssh,omitempty"`
	Binaries   []string            `json:"binaries"`           // commands whose binaries it copies, sorted
	Rebuilds   bool                `json:"rebuilds,omitempty"` // compiles its own command in a RUN
}

// Leg is one image on one platform.
type Leg struct {
	Image    string            `json:"image"`
	Platform platform.Platform `json:"platform"`
	Tag      string            `json:"tag"`
	Engine   string            `json:"engine"` // native, buildx or buildah; "" where nothing can build it
	Why      string            `json:"why"`    // what decided the engine, e.g. where the RUN stands
}
