package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const docs = "../../docs/rules"

// index is docs/rules/README.md.
func index() string {
	var b strings.Builder
	b.WriteString("# Rules\n\nWhat `archmage verify` finds, and `archmage image` stops at. This list is generated from the table in `build/verify/rule.go`.\n\n" +
		"| rule | severity | finds |\n|---|---|---|\n")
	for _, r := range Rules() {
		severity := string(r.Severity)
		if r.Pedantic {
			severity += ", with `--pedantic`"
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s |\n", r.Name, r.Name, severity, r.Description)
	}
	return b.String()
}

func TestIndexListsTheTable(t *testing.T) {
	name := filepath.Join(docs, "README.md")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, []byte(index()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != index() {
		t.Errorf("%s is not what the table says, UPDATE=1 writes it: %v", name, err)
	}
}

func TestEveryRuleHasItsPageAndCases(t *testing.T) {
	var pages []string
	files, _ := filepath.Glob(docs + "/*.md")
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".md"); name != "README" {
			pages = append(pages, name)
		}
	}
	var names []string
	for _, r := range Rules() {
		names = append(names, r.Name)
		data, _ := os.ReadFile(filepath.Join(docs, r.Name+".md"))
		for _, part := range []string{"# " + r.Name + "\n\n" + r.Description + ".\n", "\n## Why\n", "\n## Wrong\n", "\n## Right\n", "\n## How to fix it\n"} {
			if !strings.Contains(string(data), part) {
				t.Errorf("the page of %s has no %q", r.Name, part)
			}
		}
		if !strings.HasSuffix(r.URL, "/docs/rules/"+r.Name+".md") {
			t.Errorf("%s points to %s", r.Name, r.URL)
		}
		good, _ := filepath.Glob("testdata/" + r.Name + "/ok*.txtar")
		all, _ := filepath.Glob("testdata/" + r.Name + "/*.txtar")
		if len(good) == 0 || len(all) == len(good) {
			t.Errorf("%s has %d cases, %d of them right", r.Name, len(all), len(good))
		}
	}
	if !slices.Equal(pages, names) {
		t.Errorf("pages %v, rules %v", pages, names)
	}
}

// circumstances are what some pages say about their examples, as settings of a
// case.
var circumstances = map[string]string{
	"OutputCopied":     "out: dist",
	"ParentIgnoreFile": "dockerfile: build/app/Dockerfile",
	"SinglePlatformDigest": "base: docker.io/library/alpine:3.22@sha256:1111111111111111111111111111111111111111111111111111111111111111 image linux/amd64\n" +
		"base: docker.io/library/alpine:3.22@sha256:2222222222222222222222222222222222222222222222222222222222222222 index linux/amd64 linux/arm64",
	"BaseLacksPlatform": "base: example.com/base:1 index linux/amd64\nbase: example.com/base:2 index linux/amd64 linux/arm64",
}

// The first example below "## Wrong" must have exactly this finding, that below
// "## Right" none.
func TestExamplesOfPagesAreWhatTheySay(t *testing.T) {
	for _, r := range Rules() {
		data, err := os.ReadFile(filepath.Join(docs, r.Name+".md"))
		if err != nil {
			t.Error(err)
			continue
		}
		comment := "platforms: linux/amd64 linux/arm64\ncommands: app"
		if r.Name == "VariantCollision" {
			comment = "platforms: linux/amd64 linux/arm/v6 linux/arm/v7\ncommands: app"
		}
		if more, ok := circumstances[r.Name]; ok {
			comment += "\n" + more
		}
		for _, part := range []string{"Wrong", "Right"} {
			_, rest, _ := strings.Cut(string(data), "\n## "+part+"\n")
			rest, _, _ = strings.Cut(rest, "\n## ")
			repo := example(rest, "dockerfile")
			if repo == "" {
				t.Errorf("%s: no example under %s", r.Name, part)
				continue
			}
			files := append([]string{"Dockerfile", repo}, ".dockerignore", example(rest, "gitignore"))
			if r.Name == "ParentIgnoreFile" {
				files = []string{"build/app/Dockerfile", repo, map[string]string{"Wrong": "build/app/.dockerignore", "Right": "build/app/Dockerfile.dockerignore"}[part], "*.md\n"}
			}
			if r.Pedantic {
				comment += "\nseverity: " + r.Name + "=" + string(r.Severity)
			}
			got, _ := check(t, comment, file(files[0], files[1]), file(files[2], files[3]))
			want := []string{r.Name}
			if part == "Right" {
				want = nil
			}
			if !slices.Equal(rules(got), want) {
				t.Errorf("%s, %s: got %v", r.Name, part, rules(got))
			}
		}
	}
}

// example is the first fenced block of a language.
func example(text, language string) string {
	_, text, _ = strings.Cut(text, "```"+language+"\n")
	text, _, _ = strings.Cut(text, "```")
	return text
}
