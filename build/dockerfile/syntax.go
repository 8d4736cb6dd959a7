package dockerfile

import (
	"strings"

	"github.com/distribution/reference"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// ours is the front end that this package is; a tag or digest of it asks for
// one of its releases. Its labs channel is the same with more enabled, and
// everything is enabled here.
const ours = "docker.io/docker/dockerfile"

// foreign is the front end that the file asks for, in any of the forms that
// BuildKit knows, and where, unless it is docker/dockerfile.
func (e *evaluation) foreign() (ref string, at []Range, ok bool) {
	if arg := strings.Fields(e.in.Args["BUILDKIT_SYNTAX"]); len(arg) > 0 {
		ref = arg[0]
	} else if found, _, lines, ok := parser.DetectSyntax(e.text.data); ok {
		ref, at = found, e.text.ranges(lines)
	}
	if ref == "" {
		return "", nil, false
	}
	named, err := reference.ParseNormalizedNamed(ref)
	return ref, at, err != nil || named.Name() != ours
}
