package platform

import "slices"

// automatic are the arguments that BuildKit sets from the platforms and the
// target (frontend/dockerfile/dockerfile2llb, v0.34.2).
var automatic = []string{
	"BUILDARCH", "BUILDOS", "BUILDOSVERSION", "BUILDPLATFORM", "BUILDVARIANT",
	"TARGETARCH", "TARGETOS", "TARGETOSVERSION", "TARGETPLATFORM", "TARGETSTAGE", "TARGETVARIANT",
}

// AutomaticArg reports whether a build argument is one that each platform sets
// by itself. Given as a build argument it would win, and the image would say one
// architecture and hold another.
func AutomaticArg(name string) bool { return slices.Contains(automatic, name) }
