package build

import (
	"context"
	"regexp"

	"github.com/archmage-go/archmage/build/run"
)

// commitHash is a full one, SHA-1 or SHA-256: labels are anybody's text, and git
// takes other words for options or branches.
var commitHash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// before reports whether the local history knows commit a to precede commit b.
// No git, no checkout, a shallow one and branches that have parted know nothing.
func (p *Project) before(ctx context.Context, a, b string) bool {
	if !commitHash.MatchString(a) || !commitHash.MatchString(b) {
		return false
	}
	return p.runner.Run(ctx, run.Cmd{
		Name: "git", Args: []string{"merge-base", "--is-ancestor", a, b}, Dir: p.Root,
		Env:   []string{"GIT_NO_LAZY_FETCH=1"}, // a partial clone would ask its remote
		Reads: true,
	}) == nil
}
