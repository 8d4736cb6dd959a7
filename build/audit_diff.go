package build

import (
	"bytes"
	"context"
	"errors"

	"github.com/archmage-go/archmage/build/audit"
)

// auditDiff says how what two references name differs. Any difference makes it
// return a *differError, whatever IMAGE_VERIFY is: that is the answer.
func (p *Project) auditDiff(ctx context.Context, o AuditOptions) error {
	if len(o.Refs) != 2 {
		return Usage("e.g. archmage audit --diff dist/app:v1 ghcr.io/org/app:v1", "audit --diff takes two references, got %d", len(o.Refs))
	}
	var sides [2]audit.Side
	var errs []error
	for i, ref := range o.Refs {
		var err error
		sides[i], err = p.side(ctx, ref)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	c, err := audit.Diff(ctx, sides[0], sides[1], p.auditOptions())
	if err != nil {
		return orDenied(err)
	}
	var out bytes.Buffer
	if o.JSON {
		err = c.WriteJSON(&out)
	} else {
		err = c.WriteText(&out)
	}
	if err == nil {
		_, err = p.console.Write(out.Bytes())
	}
	if err == nil && !c.Equal() {
		return &differError{len(c.Differences) + c.Omitted}
	}
	if err == nil {
		p.console.Event("audit", c.A.Ref, "equal to "+c.B.Ref+": "+c.A.Digest)
	}
	return err
}

// side is what one reference names: one thing, not all that a layout holds.
func (p *Project) side(ctx context.Context, text string) (audit.Side, error) {
	list, err := p.auditSubject(ctx, text)
	if err != nil {
		return audit.Side{}, err
	}
	if len(list) != 1 {
		return audit.Side{}, Usage("add a tag, e.g. "+list[0].called, "audit --diff: %s names %s", text, plural(len(list), "image"))
	}
	return audit.Side{Repo: list[0].repo, Ref: list[0].ref, Called: list[0].called}, nil
}

// differError says that two references differ; how is printed.
type differError struct{ n int }

func (e *differError) Error() string { return "audit --diff: " + plural(e.n, "difference") }
