package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/archmage-go/archmage/build/publish"
	"github.com/archmage-go/archmage/build/registry"
)

// InspectOptions says what is inspected, and how it is printed.
type InspectOptions struct {
	Ref      string // "" is every selected image under VERSION
	JSON     bool   // versioned; one reference
	Revision bool   // the revision alone, that of all
}

// Inspect prints what a reference names: platforms, digests, sizes, revisions.
// It reads manifests and configs, no layers, and writes nothing. A denial counts
// as absence.
func (p *Project) Inspect(ctx context.Context, o InspectOptions) error {
	if o.Ref == "" {
		if err := p.needVersion(); err != nil {
			return err
		}
	}
	targets, err := p.inspected(ctx, o)
	if err != nil {
		return err
	}
	if o.Revision {
		return p.printRevision(ctx, targets)
	}
	if len(targets) > 1 && o.JSON {
		return Usage("name it, or narrow WHAT", "inspect: %s, and one is printed", plural(len(targets), "image"))
	}
	var errs []error
	for i, t := range targets {
		r, err := publish.Inspect(ctx, t.repo, t.ref)
		if err == nil {
			if i > 0 {
				p.console.Result("")
			}
			err = p.printReport(r, o)
		}
		errs = append(errs, orDenied(err))
	}
	return errors.Join(errs...)
}

// target is one thing to inspect.
type target struct {
	repo registry.Repository
	ref  string
}

func (p *Project) inspected(ctx context.Context, o InspectOptions) ([]target, error) {
	if o.JSON && o.Revision {
		return nil, Usage("leave one of them out", "inspect: --json and --revision print different things")
	}
	if o.Ref != "" {
		repo, ref, err := p.reference(o.Ref)
		return []target{{repo, ref}}, err
	}
	images, err := p.selectedImages(ctx)
	if err != nil {
		return nil, err
	}
	var targets []target
	for _, img := range images {
		repo, err := p.repositories().openFor(img.Name, registry.Read)
		if err != nil {
			return nil, err
		}
		targets = append(targets, target{repo, p.Version})
	}
	return targets, nil
}

// printRevision prints the revision of every target, where that is one; else
// nothing.
func (p *Project) printRevision(ctx context.Context, targets []target) error {
	var one string
	var errs []error
	for i, t := range targets {
		revision, err := t.revision(ctx)
		switch {
		case err != nil:
			errs = append(errs, err)
		case one != "" && revision != one:
			errs = append(errs, fmt.Errorf("inspect %s:%s: its revision is %s, that of %s is %s", t.repo.Name(), t.ref, revision, targets[0].repo.Name(), one))
		case i == 0:
			one = revision
		}
	}
	if len(errs) == 0 {
		p.console.Result(one)
	}
	return errors.Join(errs...)
}

// revision is the one that all images of a target are of.
func (t target) revision(ctx context.Context) (string, error) {
	r, err := publish.Inspect(ctx, t.repo, t.ref)
	if err != nil {
		return "", orDenied(err)
	}
	revision, err := r.OneRevision()
	if err == nil && strings.ContainsFunc(revision, unprintable) {
		err = fmt.Errorf("inspect %s: its revision is no plain word: %q", r, revision)
	}
	return revision, err
}

// printReport prints one report. What is incomplete is printed as far as it is
// there, and is an error.
func (p *Project) printReport(r *publish.Report, o InspectOptions) error {
	if o.JSON {
		return errors.Join(p.printJSON(r), r.Whole())
	}
	var out bytes.Buffer
	err := printTable(&out, r)
	if err == nil {
		_, err = p.console.Write(out.Bytes())
	}
	return errors.Join(err, r.Whole())
}

// unprintable is what no commit's name holds: labels are anybody's text.
func unprintable(r rune) bool { return r <= ' ' || r > '~' }

// plain is text for a terminal, and for a log of GitHub's, whose runner takes
// "##[" for a command wherever it stands.
func plain(text string) string {
	text = strings.ReplaceAll(text, "##[", "## [")
	if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

func printTable(w io.Writer, r *publish.Report) error {
	fmt.Fprintln(w, r)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row := func(cells ...string) {
		for i := range cells {
			cells[i] = plain(cells[i])
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	row("media type", r.MediaType)
	for _, fact := range [][2]string{{"revision", r.Revision}, {"created", r.Created}} {
		if fact[1] != "" {
			row(fact[0], fact[1])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Annotations)) {
		row("annotation", key+"="+r.Annotations[key])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	printImages(row, r)
	return t.Flush()
}

// printImages prints a line per image. Revision and time have columns where they
// are not the same for all.
func printImages(row func(...string), r *publish.Report) {
	head := []string{"PLATFORM", "DIGEST", "SIZE", "MEDIA TYPE"}
	differ := r.Revision == "" || r.Created == ""
	if differ {
		head = append(head, "REVISION", "CREATED")
	}
	row(head...)
	for _, img := range r.Images {
		line := []string{orDash(img.Platform), img.Digest, size(img.Size), img.MediaType}
		if img.Absent {
			line[2] = "absent"
		}
		if differ {
			line = append(line, orDash(img.Revision), orDash(img.Created))
		}
		row(line...)
	}
	for _, a := range r.Attestations {
		row("attestation", a.Digest, "-", a.MediaType)
	}
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// size is a number of bytes for people.
func size(n int64) string {
	value, unit := float64(n), 0
	units := []string{"B", "kB", "MB", "GB", "TB"}
	for value >= 1000 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
