package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/registry"
)

// auditSubject is one reference to audit.
type auditSubject struct {
	repo        registry.Repository
	ref, called string
}

// auditSubjects opens what references name; without any, every entry of every
// layout in IMAGE_OUT.
func (p *Project) auditSubjects(ctx context.Context, refs []string) ([]auditSubject, error) {
	if len(refs) == 0 {
		return p.layoutSubjects(ctx)
	}
	var all []auditSubject
	var errs []error
	for _, ref := range refs {
		list, err := p.auditSubject(ctx, ref)
		all, errs = append(all, list...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

func (p *Project) layoutSubjects(ctx context.Context) ([]auditSubject, error) {
	entries, err := os.ReadDir(p.path(p.Out))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var all []auditSubject
	for _, e := range entries {
		name := path.Join(p.Out, e.Name())
		if _, err := os.Stat(filepath.Join(p.path(name), "index.json")); err != nil || !p.selects(e.Name()) {
			continue
		}
		list, err := p.layoutEntries(ctx, name, "")
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("audit %s: nothing to audit there: %w", p.Out, registry.ErrAbsent)
	}
	return all, nil
}

// selects reports whether WHAT names an image, or names nothing.
func (p *Project) selects(image string) bool {
	return len(p.What) == 0 || slices.ContainsFunc(p.What, func(w string) bool { return path.Base(w) == image })
}

// layoutEntries are the entry ref of a layout, or where ref is "" all of them.
func (p *Project) layoutEntries(ctx context.Context, name, ref string) ([]auditSubject, error) {
	dir := filepath.FromSlash(name)
	if !filepath.IsAbs(dir) {
		dir = p.path(name)
	}
	repo := registry.OpenLayout(dir, name)
	if ref != "" {
		return []auditSubject{{repo, ref, joinRef(name, ref)}}, nil
	}
	tags, err := repo.Tags(ctx)
	if err == nil && len(tags) == 0 {
		err = fmt.Errorf("audit %s: no image there: %w", name, registry.ErrAbsent)
	}
	var all []auditSubject
	for _, tag := range tags {
		all = append(all, auditSubject{repo, tag, joinRef(name, tag)})
	}
	return all, err
}

func joinRef(name, ref string) string {
	if strings.Contains(ref, ":") {
		return name + "@" + ref
	}
	return name + ":" + ref
}

// auditSubject opens what one reference names. A layout without a tag is all of
// its entries.
func (p *Project) auditSubject(ctx context.Context, text string) ([]auditSubject, error) {
	if path.Clean(text) == p.Out {
		return p.layoutSubjects(ctx)
	}
	name, ref, err := splitRef(text)
	if err != nil {
		return nil, err
	}
	if p.isLayout(name) {
		return p.layoutEntries(ctx, name, ref)
	}
	repo, ref, err := p.reference(text)
	if err != nil {
		return nil, err
	}
	return []auditSubject{{repo, ref, joinRef(repo.Name(), ref)}}, nil
}
