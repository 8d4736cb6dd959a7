package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/verify"
	"github.com/archmage-go/archmage/build/verify/report"
)

// fixer is one `verify --fix`: what is wrong in the files of the selected images
// and has one right answer.
type fixer struct {
	*Project
	evaluator evaluator
	work      *work
	judge     verify.Options
	only      string // rule; "" is every one that has a fix

	images []plan.Image          // the selected ones, then all others
	names  map[string]string     // Dockerfiles and ignore files as recipes name them → the real file
	files  map[string]*rewritten // by real file
}

// rewritten is a file that a fix changes.
type rewritten struct {
	name     string // slash path from the root, links resolved
	path     string
	old, new []byte
	fixes    int
}

// fix writes what can be fixed, or with dry prints it as a diff, and returns the
// work as it is after that. A file is written only when it is known that it is
// right then, and nothing is written where one of the files may not be changed.
func (f *fixer) fix(ctx context.Context, dry bool) (*work, error) {
	out, err := f.repair(ctx)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	files := f.changed(out)
	if dry {
		err = f.print(files)
	} else {
		err = f.write(ctx, files)
	}
	if err != nil {
		return nil, err
	}
	f.report(out, files, dry)
	e := f.evaluator
	if dry {
		e.overlay = out.Files
	}
	recipes, err := e.evaluate(ctx, f.work.images)
	if err != nil {
		return nil, err
	}
	return &work{images: f.work.images, recipes: recipes, found: f.work.found, bases: f.work.bases}, nil
}

func (f *fixer) repair(ctx context.Context) (verify.Repaired, error) {
	f.names, f.files = map[string]string{}, map[string]*rewritten{}
	all, _, err := f.Project.images()
	if err != nil {
		return verify.Repaired{}, err
	}
	f.images = slices.Clone(f.work.images)
	for _, img := range all {
		same := func(o plan.Image) bool { return o.Name == img.Name }
		if !slices.ContainsFunc(f.images, same) && len(img.Platforms) > 0 {
			f.images = append(f.images, img)
		}
	}
	n := len(f.work.images)
	return verify.Repair{
		Images: n, Others: len(f.images) - n, Names: f.aliases, Read: f.read,
		Check: func(i int, over map[string][]byte) (verify.Judged, error) { return f.check(ctx, i, over) },
	}.Run()
}

func (f *fixer) check(ctx context.Context, i int, over map[string][]byte) (verify.Judged, error) {
	e, img := f.evaluator, f.images[i]
	if e.overlay = over; i >= len(f.work.images) {
		e.bases = nil // nobody asked about it
	}
	w := &work{images: []plan.Image{img}, found: f.work.found, bases: f.work.bases}
	var err error
	if w.recipes, err = e.evaluate(ctx, w.images); err != nil {
		return verify.Judged{}, err
	}
	_, findings, err := f.Project.check(w, f.judge)
	for k := range findings {
		if f.only != "" && findings[k].Rule != f.only {
			findings[k].Edits = nil
		}
	}
	r := w.recipes[img.Name][0]
	for _, name := range []string{r.Dockerfile, r.Ignore.Path} {
		if f.names[name] == "" && name != "" {
			f.names[name], _ = filepath.EvalSymlinks(f.path(name)) // judged where it matters
		}
	}
	return verify.Judged{Findings: findings, Recipe: r}, err
}

// aliases are the names by which recipes read a file. One that a link leads out
// of the repository to is not touched.
func (f *fixer) aliases(name string) ([]string, error) {
	if _, err := f.real(name); err != nil {
		return nil, err
	}
	var list []string
	for _, other := range slices.Sorted(maps.Keys(f.names)) {
		if f.names[other] == f.names[name] {
			list = append(list, other)
		}
	}
	return list, nil
}

// real is the file behind a name, ready to be changed.
func (f *fixer) real(name string) (*rewritten, error) {
	file := f.names[name]
	if known := f.files[file]; known != nil {
		return known, nil
	}
	root, err := filepath.EvalSymlinks(f.Root)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, file)
	if err != nil || file == "" || !filepath.IsLocal(rel) {
		return nil, fmt.Errorf("%s: lies outside the repository", name)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f.files[file] = &rewritten{name: filepath.ToSlash(rel), path: file, old: data}
	return f.files[file], nil
}

func (f *fixer) read(name string) ([]byte, error) {
	file, err := f.real(name)
	if err != nil {
		return nil, err
	}
	return file.old, nil
}

// changed lists the files that become others, by name.
func (f *fixer) changed(out verify.Repaired) []*rewritten {
	var list []*rewritten
	for name, data := range out.Files {
		file := f.files[f.names[name]]
		if file.new = data; !bytes.Equal(file.old, data) && !slices.Contains(list, file) {
			list = append(list, file)
		}
	}
	slices.SortFunc(list, func(a, b *rewritten) int { return cmp.Compare(a.name, b.name) })
	for _, done := range out.Fixed {
		var touched []*rewritten
		for _, e := range done.Edits {
			if file := f.files[f.names[e.File]]; !slices.Contains(touched, file) {
				touched = append(touched, file)
				file.fixes++
			}
		}
	}
	return list
}

// print writes a diff that `git apply` and `patch -p1` take. Anchored diffs are
// easy to read, and cost no more than sorting the lines.
func (f *fixer) print(files []*rewritten) error {
	for _, file := range files {
		if _, err := f.console.Write(diff.Diff("a/"+file.name, file.old, "b/"+file.name, file.new)); err != nil {
			return err
		}
	}
	return nil
}

func (f *fixer) write(ctx context.Context, files []*rewritten) error {
	var errs []error
	for _, file := range files {
		if !f.Force {
			errs = append(errs, f.committed(ctx, "verify --fix", file))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return replaceAll(f.disk, files)
}

func (f *fixer) report(out verify.Repaired, files []*rewritten, dry bool) {
	fixed, written := "fixed ", " written"
	if dry {
		fixed, written = "would fix ", " not written: --dry-run"
	}
	for _, done := range out.Fixed {
		f.console.Event("verify", fmt.Sprintf("%s:%d", done.File, done.Start.Line), fixed+done.Rule)
	}
	for _, file := range files {
		f.console.Event("verify", file.name, fixes(file.fixes)+written)
	}
	for _, left := range out.Left {
		f.console.Warn("%s:%d: %s is not fixed: %s", left.File, left.Start.Line, left.Rule, left.Why)
	}
}

func fixes(n int) string {
	if n == 1 {
		return "1 fix"
	}
	return fmt.Sprintf("%d fixes", n)
}

// checkFix refuses what a dry run of --fix has no place for.
func (o VerifyOptions) checkFix() error {
	if o.Fix && o.DryRun && o.Format != "" && o.Format != "text" {
		return Usage("leave one of them out", "--dry-run: prints a diff, not %s", o.Format)
	}
	return nil
}

// tried tells what would remain after a dry run, where events go, since stdout
// has the diff. It returns what there is: the files are as wrong as before.
func (p *Project) tried(w *work, judge verify.Options, subjects []verify.Subject, remain []verify.Finding) ([]verify.Finding, error) {
	var out bytes.Buffer
	if err := report.Text(&out, remain, subjects); err != nil {
		return nil, err
	}
	if out.Len() > 0 {
		p.console.Lines(out.String())
	}
	_, findings, err := p.check(w, judge)
	return findings, err
}
