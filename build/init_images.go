package build

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/adopt"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/verify"
)

// lookForImages finds those that archmage sees by itself, with IMAGE_DIRS as the
// Makefile has it, and Dockerfiles that archmage.yaml would have to name.
func (a *adopter) lookForImages(fsys fs.FS) error {
	s := *a.Settings
	a.Project = &Project{Settings: &s, runner: a.runner, console: a.console, client: a.client, disk: a.disk, dry: a.dry}
	if dirs := a.make.Words("IMAGE_DIRS"); s.Dirs == nil && len(dirs) > 0 {
		s.Dirs = dirs
	}
	images, _, err := a.Project.images()
	if err != nil {
		return err
	}
	var taken []string
	for _, img := range images {
		a.images = append(a.images, img.Name)
		taken = append(taken, img.Dockerfile)
	}
	files, passed, err := adopt.Dockerfiles(fsys)
	if err != nil || len(s.Dirs) > 0 {
		return err
	}
	names := slices.Clone(a.images)
	for _, file := range files {
		if slices.Contains(taken, file) {
			continue
		}
		img := adopt.Image{Name: adopt.Name(file, a.repositoryName(), plan.LegalName, names), Dockerfile: file}
		if img.Name == "" || slices.Contains(names, img.Name) {
			passed = append(passed, file)
			continue
		}
		img.Context = a.guessContext(fsys, file)
		names, a.undeclared = append(names, img.Name), append(a.undeclared, img)
	}
	slices.Sort(passed)
	a.passed = slices.DeleteFunc(passed, func(file string) bool { return slices.Contains(taken, file) })
	return nil
}

// guessContext is the Dockerfile's own directory where only that has what it
// copies; "" is the root.
func (a *adopter) guessContext(fsys fs.FS, file string) string {
	dir := path.Dir(file)
	if dir == "." {
		return ""
	}
	in := evaluator{Project: a.Project}.input(plan.Image{Dockerfile: file}, a.Platforms[0])
	r, err := dockerfile.Evaluate(context.Background(), in)
	if err != nil {
		return ""
	}
	root, own := 0, 0
	for _, c := range r.ContextCopies() {
		for _, p := range c.Paths {
			there := func(name string) int {
				found, err := fs.Glob(fsys, name)
				return btoi(err == nil && len(found) > 0)
			}
			root, own = root+there(p), own+there(path.Join(dir, p))
		}
	}
	if own > root {
		return dir
	}
	return ""
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// judge says what verify finds, and proposes the lines without which binaries
// do not reach the build. What cannot be judged is told, and stops nothing.
func (a *adopter) judge(ctx context.Context) {
	if len(a.images)+len(a.undeclared) == 0 {
		return
	}
	for _, img := range a.undeclared {
		a.Images = append(a.Images, config.Image{Name: img.Name, Dockerfile: img.Dockerfile, Context: img.Context})
	}
	slices.SortFunc(a.Images, func(x, y config.Image) int { return strings.Compare(x.Name, y.Name) })
	err := a.findings(ctx)
	if err != nil && ctx.Err() == nil {
		a.notes = append(a.notes, "the Dockerfiles are not judged: "+err.Error())
	}
}

func (a *adopter) findings(ctx context.Context) error {
	judge, err := a.severities(nil)
	if err != nil {
		return err
	}
	e := evaluator{Project: a.Project, guess: true}
	w, err := a.look(ctx, e)
	if err != nil {
		return err
	}
	_, findings, err := a.check(w, judge)
	if err != nil {
		return err
	}
	fixed, err := a.unignore(ctx, w, judge)
	if err != nil {
		return err
	}
	left, mended := len(findings)-fixed, -fixed
	for _, f := range findings {
		mended += btoi(len(f.Edits) > 0)
	}
	detail := "nothing found"
	switch {
	case left > 0 && mended > 0:
		detail = fmt.Sprintf("%s, `archmage verify --fix` mends %d", plural(left, "finding"), mended)
	case left > 0:
		detail = plural(left, "finding") + ", `archmage verify` shows what to write"
	}
	a.console.Event("verify", plural(len(w.images), "image"), detail)
	return nil
}

// ruleIgnored is the rule of binaries that an ignore file keeps from the build.
const ruleIgnored = "IgnoredBinary"

// unignore proposes what verify --fix would write into ignore files for
// binaries that are kept from the build, and counts the findings that go.
func (a *adopter) unignore(ctx context.Context, w *work, judge verify.Options) (int, error) {
	f := fixer{Project: a.Project, evaluator: evaluator{Project: a.Project, guess: true}, work: w, judge: judge, only: ruleIgnored}
	out, err := f.repair(ctx)
	if err != nil {
		return 0, err
	}
	for _, file := range f.changed(out) {
		a.changes = append(a.changes, &change{rewritten: *file, exists: true})
	}
	return len(out.Fixed), nil
}
