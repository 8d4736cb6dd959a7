package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/rootfs"
)

// AuditOptions says what is audited, and how findings are printed.
type AuditOptions struct {
	Refs []string // tags, digests and layouts; none is all of IMAGE_OUT
	JSON bool
	Diff bool // say how the two references differ, instead
}

// Audit compares what is published, or lies in IMAGE_OUT, with what it claims to
// be. Findings make it return a *[FindingsError], unless IMAGE_VERIFY is off.
// What could not be decided is printed too, and is none.
func (p *Project) Audit(ctx context.Context, o AuditOptions) error {
	if o.Diff {
		return p.auditDiff(ctx, o)
	}
	subjects, err := p.auditSubjects(ctx, o.Refs)
	if err != nil {
		return err
	}
	options := p.auditOptions()
	var reports []audit.Report
	var errs []error
	for _, s := range subjects {
		r, err := audit.Reference(ctx, s.repo, s.ref, s.called, options)
		if err != nil {
			errs = append(errs, orDenied(err))
		}
		if err == nil || len(r.Findings) > 0 {
			reports = append(reports, r)
		}
		if err == nil {
			p.console.Event("audit", r.Ref, p.summary(r))
		}
	}
	var out bytes.Buffer
	if o.JSON {
		err = audit.WriteJSON(&out, reports)
	} else {
		err = audit.WriteText(&out, reports)
	}
	if err == nil {
		_, err = p.console.Write(out.Bytes())
	}
	p.summarizeAudit(reports)
	if !o.JSON {
		p.annotateAudit(reports)
	}
	return errors.Join(append(errs, err, p.stopAudit(reports))...)
}

func (p *Project) summary(r audit.Report) string {
	text := plural(len(r.Platforms), "platform") + ", " + plural(r.Programs, "program")
	wrong := r.Wrong()
	if wrong > 0 {
		text += ", " + plural(wrong, "finding")
	}
	if unsure := len(r.Findings) - wrong; unsure > 0 {
		text += fmt.Sprintf(", %d not checked", unsure)
	}
	if len(r.Findings) == 0 {
		text += ", ok"
	}
	return text
}

// stopAudit is the error of findings. With IMAGE_VERIFY off they stop nothing.
func (p *Project) stopAudit(reports []audit.Report) error {
	n := 0
	for _, r := range reports {
		n += r.Wrong()
	}
	switch {
	case n == 0:
		return nil
	case !p.Settings.Verify:
		p.console.Warn("%s, ignored: IMAGE_VERIFY is false", plural(n, "finding"))
		return nil
	}
	return &FindingsError{Verb: "audit", Errors: n}
}

// auditOptions are those of everything that is read back.
func (p *Project) auditOptions() audit.Options {
	return audit.Options{
		Jobs: p.Jobs, Indexes: rootfs.Indexes(p.cache(cacheLayers)), Revision: p.Revision, Base: p.baseConfig(),
	}
}
