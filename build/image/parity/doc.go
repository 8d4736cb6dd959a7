// Package parity compares images built by real BuildKit with images of the same
// Dockerfile built another way, property by property. It is the oracle of the
// native builder, so it shares no code with what it judges: layers are read,
// applied and compared here, by the OCI image specification and nothing else.
//
// A [Case] is a txtar file: a Dockerfile, a context, and bases where the usual
// ones do not do. [Checker.Check] builds it on both sides and returns every
// difference. [Random] makes cases from a seed. What may differ is listed, with
// reasons, in normalize.go and nowhere else.
//
// The tests that need BuildKit have the build tag engines; scripts/engines
// starts it. The rest of the package is tested without.
package parity

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Request is one build on one platform, as a user would ask for it.
type Request struct {
	Context    string   // directory
	Dockerfile string   // slash path below Context
	Platform   string   // os/arch[/variant], normalised
	Target     string   // stage; "" is the last
	Args       []string // KEY=value
	Labels     []string // KEY=value
}

// Builder builds one image. An error means that it refuses to.
type Builder func(context.Context, Request) (v1.Image, error)
