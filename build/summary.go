package build

import (
	"strings"

	"github.com/archmage-go/archmage/build/publish"
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
			b.WriteString("| " + summaryCell.Replace(text) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
	if err := appendFile(p.disk, p.GitHub.Summary, b.String()); err != nil {
		p.console.Warn("write GITHUB_STEP_SUMMARY: %v", err)
	}
}

// summaryCell keeps what a registry or a setting says from being Markdown: a
// cell ends at | or at the end of the line, < begins a tag.
var summaryCell = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "&", "&amp;", "\n", " ", "\r", " ", "[", `\[`, "]", `\]`, "!", `\!`)

func mono(text string) string { return "`" + strings.ReplaceAll(text, "`", "") + "`" }
