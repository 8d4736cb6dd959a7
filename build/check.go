package build

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/image"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
)

// checkBases refuses a base that is for another architecture than its leg.
// BuildKit takes one without a word: a single image serves every platform, and
// an index without arm64 serves arm64 from what it has for arm.
func (p *Project) checkBases(w *work, bases *image.Bases) error {
	var errs []error
	for _, leg := range w.plan.Legs {
		_, r := w.leg(leg)
		if r.FinalBase == nil {
			continue
		}
		have, known := bases.Platform(*r.FinalBase)
		if !known || serves(have, leg.Platform) {
			continue
		}
		finding := audit.Finding{Platform: leg.Platform, Message: fmt.Sprintf("base %s is for %s", r.FinalBase.Ref, have)}
		if err := p.judge([]audit.Finding{finding}); err != nil {
			errs = append(errs, &wrongBase{leg.Image, err})
		}
	}
	return errors.Join(errs...)
}

// wrongBase is a base that is for another platform than its leg.
type wrongBase struct {
	image   string
	finding error
}

func (e *wrongBase) Error() string { return "image " + e.image + ": " + e.finding.Error() }
func (e *wrongBase) Unwrap() error { return e.finding }

// Hint is the line to show below the error.
func (e *wrongBase) Hint() string {
	return "name the base by a tag or digest of its index, not of one platform's image, or leave the platform out"
}

// serves reports whether a base for have holds programs that run on want: the
// same architecture, in the same or a lower variant.
func serves(have, want platform.Platform) bool {
	_, value := have.GoVar()
	return have.OS == want.OS && have.Arch == want.Arch && (value == "" || slices.Contains(want.Runs(), value))
}

// checkCopied judges what images take from where binaries are and nobody here
// compiled: a file of another architecture does not get in because it was lying
// there.
func (p *Project) checkCopied(w *work) error {
	compiled := map[string]bool{}
	for _, b := range w.plan.Binaries {
		for _, name := range append([]string{b.Path}, b.Also...) {
			compiled[name] = true
		}
	}
	var errs []error
	for _, leg := range w.plan.Legs {
		img, r := w.leg(leg)
		for _, name := range p.foreign(img, r) {
			if compiled[name] {
				continue
			}
			findings, err := audit.BinaryFile(p.path(name), leg.Platform, audit.BinaryOptions{CGO: true})
			if err == nil {
				err = p.judge(findings)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // the build will say what is missing
				errs = append(errs, fmt.Errorf("image %s: %s: %w", leg.Image, name, err))
			}
		}
	}
	return errors.Join(dedupe(errs)...)
}

// foreign lists the files in the directory of binaries that a recipe names.
func (p *Project) foreign(img plan.Image, r *dockerfile.Recipe) []string {
	dir := path.Dir(p.Bin)
	var names []string
	for _, c := range r.ContextCopies() {
		for _, source := range c.Paths {
			name := path.Join(img.Context, source)
			if strings.HasPrefix(name, dir+"/") && !strings.ContainsAny(name, "*?[") {
				names = append(names, name)
			}
		}
	}
	return names
}
