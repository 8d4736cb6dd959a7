package build

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/publish"
)

// What an index says of itself is anybody's text.
func TestASummaryHoldsNoMarkdownOfOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(file, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &Project{Settings: &config.Settings{GitHub: config.GitHub{Summary: file}}, console: console.New(io.Discard, io.Discard)}
	p.summarizeTags("promote", []publish.Written{{Image: "a|b", Tag: "v1`", Digest: "sha256:0", Platforms: []string{"linux/<img src=x>\n| forged |", "![x](y) \\|"}}})
	p.summarizeTags("promote", nil)
	got, err := os.ReadFile(file)
	const want = "before\n### promote\n\n| image | tag | digest | platforms | state |\n| --- | --- | --- | --- | --- |\n" +
		"| a\\|b | `v1` | `sha256:0` | linux/&lt;img src=x> \\| forged \\| \\!\\[x\\](y) \\\\\\| | unchanged |\n\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}
