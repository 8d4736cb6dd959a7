package run

import "context"

// DryRun starts the programs that only read, and tells of the others, which then
// count as having succeeded without a word.
type DryRun struct {
	Runner
	Instead func(Cmd)
}

// Run implements [Runner].
func (d DryRun) Run(ctx context.Context, c Cmd) error {
	if c.Reads {
		return d.Runner.Run(ctx, c)
	}
	if ctx.Err() == nil {
		d.Instead(c)
	}
	return context.Cause(ctx)
}
