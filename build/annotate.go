package build

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/verify"
	"github.com/archmage-go/archmage/build/verify/report"
)

// annotate shows findings at their places in a pull request, where this is a job
// on GitHub.
func (p *Project) annotate(findings []verify.Finding) {
	if !p.GitHub.Actions {
		return
	}
	var out bytes.Buffer
	_ = report.GitHub(&out, p.inWorkspace(findings)) // a buffer takes everything
	p.console.Commands(out.String())
}

// annotateAudit does so with what is wrong with images, which has no place in a
// file.
func (p *Project) annotateAudit(reports []audit.Report) {
	if !p.GitHub.Actions {
		return
	}
	var out strings.Builder
	for _, r := range reports {
		for _, f := range r.Findings {
			if !f.NotChecked {
				out.WriteString(report.Annotation(verify.Error, "audit "+r.Ref, f.Error()))
			}
		}
	}
	p.console.Commands(out.String())
}

// inWorkspace names files as GitHub wants them: from the directory that the
// repository was checked out to, which may be above the one that is worked on.
func (p *Project) inWorkspace(findings []verify.Finding) []verify.Finding {
	dir, err := filepath.Rel(p.GitHub.Workspace, p.Root)
	if p.GitHub.Workspace == "" || err != nil || !filepath.IsLocal(dir) {
		return findings
	}
	findings = slices.Clone(findings)
	for i, f := range findings {
		findings[i].File = path.Join(filepath.ToSlash(dir), f.File)
	}
	return findings
}
