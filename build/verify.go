package build

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/archmage-go/archmage/build/verify"
	"github.com/archmage-go/archmage/build/verify/report"
)

// VerifyOptions says what is judged and how findings are printed.
type VerifyOptions struct {
	Format   string   // text (or ""), json, github, sarif
	Strict   bool     // warnings stop as errors do
	Pedantic bool     // also what is only advice
	Severity []string // Rule=off, Rule=warning or Rule=error; wins over archmage.yaml
	Bases    bool     // ask the registry for every base; without it no host is asked
	Fix      bool     // write what has one right answer, then judge
	DryRun   bool     // with Fix: print a diff instead, as in any dry run
}

// Verify judges the Dockerfiles of the selected images, offline unless bases are
// asked for. Findings that are errors make it return a *[FindingsError], unless
// IMAGE_VERIFY is off. A base that is absent, or does not answer, is an error
// beside what the others lead to.
func (p *Project) Verify(ctx context.Context, o VerifyOptions) error {
	write, err := p.findingsWriter(o.Format)
	if err != nil {
		return err
	}
	judge, err := p.severities(o.Severity)
	if err != nil {
		return err
	}
	if err := o.checkFix(); err != nil {
		return err
	}
	o.DryRun = o.Fix && (o.DryRun || p.DryRun)
	judge.Pedantic = o.Pedantic
	// What is wrong with a Dockerfile does not depend on the engines that are here.
	e, asked := evaluator{Project: p, guess: true, elsewhere: true}, newAskedBases(p.client)
	if o.Bases {
		e.bases = asked
	}
	w, err := p.look(ctx, e)
	if err != nil {
		return err
	}
	w.bases = asked.answers()
	shown := w
	if o.Fix {
		f := fixer{Project: p, evaluator: e, work: w, judge: judge}
		if shown, err = f.fix(ctx, o.DryRun); err != nil {
			return err
		}
	}
	subjects, findings, err := p.check(shown, judge)
	if err != nil {
		return err
	}
	if o.DryRun {
		if findings, err = p.tried(w, judge, subjects, findings); err != nil {
			return err
		}
		return errors.Join(p.stop(findings, o.Strict), asked.failures(w))
	}
	var out bytes.Buffer
	if err := write(&out, findings, subjects); err != nil {
		return err
	}
	if _, err := p.console.Write(out.Bytes()); err != nil {
		return err
	}
	p.console.Event("verify", plural(len(w.images), "image"), counts(count(findings)))
	p.summarizeFindings(findings)
	return errors.Join(p.stop(findings, o.Strict), asked.failures(w))
}

// findingsWriter is what prints findings in a format.
func (p *Project) findingsWriter(format string) (func(io.Writer, []verify.Finding, []verify.Subject) error, error) {
	switch format {
	case "", "text":
		return func(w io.Writer, list []verify.Finding, subjects []verify.Subject) error {
			p.annotate(list)
			return report.Marked(w, list, subjects, p.mark)
		}, nil
	case "json":
		return func(w io.Writer, list []verify.Finding, _ []verify.Subject) error { return report.JSON(w, list) }, nil
	case "github":
		return func(w io.Writer, list []verify.Finding, _ []verify.Subject) error {
			return report.GitHub(w, p.inWorkspace(list))
		}, nil
	case "sarif":
		return func(w io.Writer, list []verify.Finding, _ []verify.Subject) error {
			return report.SARIF(w, list, ReadVersion().Version)
		}, nil
	}
	return nil, Usage("write text, json, github or sarif", "--format: unknown value %q", format)
}

// mark colours a severity and its rule.
func (p *Project) mark(s verify.Severity, text string) string {
	if s == verify.Error {
		return p.console.Bad(text)
	}
	return p.console.Doubtful(text)
}

// verifyFirst judges before anything is built. Errors go where events go, since
// stdout is for results; of warnings, which stop nothing, there is a line.
func (p *Project) verifyFirst(w *work) error {
	judge, err := p.severities(nil)
	if err != nil {
		return err
	}
	subjects, findings, err := p.check(w, judge)
	if err != nil {
		return err
	}
	var wrong []verify.Finding
	for _, f := range findings {
		if f.Severity == verify.Error {
			wrong = append(wrong, f)
		}
	}
	if len(wrong) > 0 {
		var out bytes.Buffer
		if err := report.Text(&out, wrong, subjects); err != nil {
			return err
		}
		p.console.Lines(out.String())
		p.annotate(wrong)
	}
	if n := len(findings) - len(wrong); n > 0 {
		p.console.Note("verify: %s, `archmage verify` shows them", plural(n, "warning"))
	}
	return p.stop(findings, false)
}

func (p *Project) check(w *work, o verify.Options) ([]verify.Subject, []verify.Finding, error) {
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
			Out: relative(img.Context, p.Out), Bin: p.Bin, Commands: commands, Planned: p.Platforms, Bases: w.bases,
		}
	}
	o.Jobs = p.Jobs
	return subjects, verify.Check(subjects, o), nil
}

// stop is the error of findings that are errors, and with strict of warnings.
// With IMAGE_VERIFY off they stop nothing.
func (p *Project) stop(findings []verify.Finding, strict bool) error {
	wrong, warnings := count(findings)
	if !strict {
		warnings = 0
	}
	switch {
	case wrong+warnings == 0:
		return nil
	case !p.Settings.Verify:
		p.console.Warn("%s, ignored: IMAGE_VERIFY is false", plural(wrong+warnings, "finding"))
		return nil
	}
	fixable := 0
	for _, f := range findings {
		if len(f.Edits) > 0 && (strict || f.Severity == verify.Error) {
			fixable++
		}
	}
	return &FindingsError{Verb: "verify", Errors: wrong, Warnings: warnings, Fixable: fixable}
}

func count(findings []verify.Finding) (wrong, warnings int) {
	for _, f := range findings {
		if f.Severity == verify.Error {
			wrong++
		} else {
			warnings++
		}
	}
	return wrong, warnings
}

// counts is "1 error, 2 warnings".
func counts(wrong, warnings int) string {
	switch {
	case wrong == 0 && warnings == 0:
		return "nothing found"
	case warnings == 0:
		return plural(wrong, "error")
	case wrong == 0:
		return plural(warnings, "warning")
	}
	return plural(wrong, "error") + ", " + plural(warnings, "warning")
}
