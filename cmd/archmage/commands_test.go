package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notFollowed are the sections with commands that no script follows, and why.
var notFollowed = map[string]string{
	"README.md: Try it on this repository": "of this repository: make_targets.txtar runs its Makefile, and make test is what runs this",
	"README.md: Adopt it in five minutes":  "make_adopt.txtar and mage_magefiles.txtar do, with archmage from the checkout",
	"CONTRIBUTING.md: ":                    "of this repository: CI runs them",
	"docs/ci.md: Other CI systems":         "needs jq; plan_github.txtar reads the same jobs",
	"docs/ci.md: Builders for RUN":         "needs builders on other machines; image_buildx.txtar names one by BUILDX_BUILDER",
	"docs/ci.md: Sign":                     "manifest_digests.txtar runs the lines, with what only prints in the place of cosign",
	"docs/ci.md: When digests differ":      "audit_diff.txtar compares a layout with a registry",
	"docs/sbom.md: Where it is":            "needs oras: testdata/oras/sbom.txtar runs these lines, in make test-engines",
	"docs/verify.md: Fixing":               "the first command exits with 4 on purpose; verify_fix.txtar runs both",
	"docs/performance.md: ":                "takes an hour, and root",
}

// TestEveryCommandOfTheDocumentsIsRun: a section that tells people to type
// something has a script that does it, or stands on the list above.
func TestEveryCommandOfTheDocumentsIsRun(t *testing.T) {
	scripts := allScripts(t)
	unused := map[string]bool{}
	for section := range notFollowed {
		unused[section] = true
	}
	commands := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(string(text)) {
			if !b.commands() {
				continue
			}
			commands++
			section := page + ": " + b.section
			delete(unused, section)
			if notFollowed[section] == "" && !follows(scripts, page, b.section) {
				t.Errorf("no script follows the section %q of %s", b.section, page)
			}
		}
	}
	for section := range unused {
		t.Errorf("%s has no commands any more", section)
	}
	if commands < 15 {
		t.Errorf("%d blocks of commands in the documents", commands)
	}
}

func follows(scripts, page, section string) bool {
	quoted := "'" + strings.ReplaceAll(section, "'", "''") + "'"
	return strings.Contains(scripts, fmt.Sprintf("\nfollow %s %s\n", page, quoted)) ||
		page == migrating && strings.Contains(scripts, "\nfollow "+quoted+"\n")
}

// pages are the documents that people read, but for what is generated: cli.md
// has a line of usage per verb, and rules have Dockerfiles, which their own
// tests build.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	list := []string{"README.md", "CONTRIBUTING.md"}
	for _, page := range found {
		if filepath.Base(page) != "cli.md" {
			list = append(list, "docs/"+filepath.Base(page))
		}
	}
	return list
}

func allScripts(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notSlug   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinksLeadSomewhere follows the links from one document to another.
func TestLinksLeadSomewhere(t *testing.T) {
	rules, err := filepath.Glob("../../docs/rules/*.md")
	if err != nil {
		t.Fatal(err)
	}
	list := append(pages(t), "CHANGELOG.md", "docs/cli.md")
	for _, r := range rules {
		list = append(list, "docs/rules/"+filepath.Base(r))
	}
	for _, page := range list {
		text, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mdLink.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // the web
			}
			file := filepath.Join("../..", filepath.Dir(page), target)
			if target == "" {
				file = filepath.Join("../..", page)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			} else if anchor != "" && !slices.Contains(anchors(t, file), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
}

// anchors are the headings of a document, as GitHub names them.
func anchors(t *testing.T, file string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mdHeading.FindAllStringSubmatch(string(text), -1) {
		slug := notSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(slug, " ", "-"))
	}
	return list
}
