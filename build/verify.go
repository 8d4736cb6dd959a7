package build

import (
	"bytes"
	"context"

	"github.com/archmage-go/archmage/build/verify"
)

// VerifyOptions says how findings are printed.
type VerifyOptions struct {
	Format string // text (or ""), json
}

// Verify judges the Dockerfiles of the selected images, offline. Findings that
// are errors make it return a *[FindingsError], unless IMAGE_VERIFY is off.
func (p *Project) Verify(ctx context.Context, o VerifyOptions) error {
	if o.Format != "" && o.Format != "text" && o.Format != "json" {
		return Usage("write text or json", "--format: unknown value %q", o.Format)
	}
	w, err := p.look(ctx, evaluator{Project: p})
	if err != nil {
		return err
	}
	subjects, findings, err := p.check(w)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if o.Format == "json" {
		err = verify.WriteJSON(&out, findings)
	} else {
		err = verify.WriteText(&out, findings, subjects)
	}
	if err != nil {
		return err
	}
	if _, err := p.console.Write(out.Bytes()); err != nil {
		return err
	}
	if len(findings) == 0 {
		p.console.Event("verify", plural(len(w.images), "image"), "nothing found")
	}
	return p.stop(findings)
}

// verifyFirst judges before anything is built. Findings go where events go:
// stdout is for results.
func (p *Project) verifyFirst(w *work) error {
	subjects, findings, err := p.check(w)
	if err != nil {
		return err
	}
	if len(findings) > 0 {
		var out bytes.Buffer
		if err := verify.WriteText(&out, findings, subjects); err != nil {
			return err
		}
		p.console.Lines(out.String())
	}
	return p.stop(findings)
}

func (p *Project) check(w *work) ([]verify.Subject, []verify.Finding, error) {
	root, err := p.fsys()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	commands := make([]string, len(w.found.Commands))
	for i, c := range w.found.Commands {
		commands[i] = c.Name
	}
	subjects := make([]verify.Subject, len(w.images))
	for i, img := range w.images {
		subjects[i] = verify.Subject{
			Image: img.Name, Root: root.FS(), Dir: root, Context: img.Context, Recipes: w.recipes[img.Name],
			Bin: p.Bin, Commands: commands, Planned: p.Platforms,
		}
	}
	return subjects, verify.Check(subjects), nil
}

// stop is the error of findings that are errors. With IMAGE_VERIFY off they
// stop nothing.
func (p *Project) stop(findings []verify.Finding) error {
	n := 0
	for _, f := range findings {
		if f.Severity == verify.Error {
			n++
		}
	}
	switch {
	case n == 0:
		return nil
	case !p.Settings.Verify:
		p.console.Warn("%s, ignored: IMAGE_VERIFY is false", plural(n, "finding"))
		return nil
	}
	return &FindingsError{Verb: "verify", Errors: n}
}
