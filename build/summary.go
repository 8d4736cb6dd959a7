package build

import (
	"fmt"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
	"github.com/archmage-go/archmage/build/verify"
)

// summarizeLegs tells people on GitHub which legs a job built.
func (p *Project) summarizeLegs(receipts []publish.Receipt) {
	var rows [][]string
	for _, r := range receipts {
		rows = append(rows, []string{r.Image, r.Platform.String(), mono(r.Tag), mono(r.Digest), size(r.Size), r.Engine, string(r.State)})
	}
	p.summarize("image", []string{"image", "platform", "tag", "digest", "size", "engine", "state"}, rows)
}

// summarizeTags tells them what tags name now.
func (p *Project) summarizeTags(verb string, written []publish.Written) {
	var rows [][]string
	for _, w := range written {
		rows = append(rows, []string{w.Image, mono(w.Tag), mono(w.Digest), words(w.Platforms), moved(w)})
	}
	p.summarize(verb, []string{"image", "tag", "digest", "platforms", "state"}, rows)
}

// summarizeBinaries tells them what was compiled.
func (p *Project) summarizeBinaries(verb string) {
	var rows [][]string
	for _, o := range p.compiledNow {
		rows = append(rows, []string{o.Subject.Command, o.Subject.Platform, mono(o.Path), o.State})
	}
	slices.SortFunc(rows, slices.Compare) // they come as they are done
	p.summarize(verb, []string{"command", "platform", "path", "state"}, rows)
}

// summarizeFindings tells them what verify found.
func (p *Project) summarizeFindings(findings []verify.Finding) {
	rows := [][]string{{"", "", "", "", "nothing found"}}
	if len(findings) > 0 {
		rows = nil
	}
	for _, f := range findings {
		rows = append(rows, []string{mono(fmt.Sprintf("%s:%d", f.File, f.Start.Line)), string(f.Severity), f.Rule, f.Image, f.Message})
	}
	p.summarize("verify", []string{"place", "severity", "rule", "image", "finding"}, rows)
}

// summarizeAudit tells them what audit found.
func (p *Project) summarizeAudit(reports []audit.Report) {
	var rows [][]string
	for _, r := range reports {
		for _, f := range r.Findings {
			rows = append(rows, []string{mono(r.Ref), f.Error()})
		}
		if len(r.Findings) == 0 {
			rows = append(rows, []string{mono(r.Ref), p.summary(r)})
		}
	}
	p.summarize("audit", []string{"reference", "finding"}, rows)
}

// summarizePlan tells them what is going to be built, as much as was asked for.
func (p *Project) summarizePlan(legs []plan.Leg, o PlanOptions) {
	var rows [][]string
	for _, leg := range legs {
		engine := leg.Engine
		if engine == "" {
			engine = "none"
		}
		rows = append(rows, []string{leg.Image, leg.Platform.String(), mono(leg.Tag), engine, leg.Why})
	}
	title := "plan"
	if o.Missing {
		title += ": what is missing"
	}
	p.summarize(title, []string{"image", "platform", "tag", "engine", "why"}, rows)
}

// summarize appends a table in GitHub's Markdown to GITHUB_STEP_SUMMARY. What is
// done is done: a summary that cannot be written is a warning.
func (p *Project) summarize(title string, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("### " + title + "\n\n")
	for _, row := range append([][]string{head, strings.Split(strings.Repeat("---,", len(head)-1)+"---", ",")}, rows...) {
		for _, text := range row {
			b.WriteString("| " + summaryCell(text) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
	if err := appendFile(p.disk, p.GitHub.Summary, b.String()); err != nil {
		p.console.Warn("write GITHUB_STEP_SUMMARY: %v", err)
	}
}

// summaryCell keeps what a registry, a file or a setting says from being
// Markdown: a cell ends at | or at the end of the line, < begins a tag. In code
// only the cell's end counts.
func summaryCell(text string) string {
	text = strings.NewReplacer("\n", " ", "\r", " ").Replace(text)
	if strings.HasPrefix(text, "`") && strings.HasSuffix(text, "`") && strings.Count(text, "`") == 2 {
		return strings.ReplaceAll(text, "|", `\|`)
	}
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "&", "&amp;", "[", `\[`, "]", `\]`, "!", `\!`, "*", `\*`, "`", "\\`").Replace(text)
}

// mono is text as code, without what would end it.
func mono(text string) string { return "`" + strings.ReplaceAll(text, "`", "") + "`" }
