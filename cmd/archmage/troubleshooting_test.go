package main

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	troubleshooting = "../../docs/troubleshooting.md"
	beginErrors     = "<!-- written by make docs: begin -->\n"
	endErrors       = "<!-- written by make docs: end -->\n"
)

// withHint are the calls whose error says by itself what to do: they are listed
// from the source. All others have a row that is written by hand.
var withHint = []string{"Usage", "bad", "Errorf", "config.Errorf", "usage", "l.wrong", "look.wrong", "r.wrong"}

// unmet are texts that no user reads, and why.
var unmet = map[string]string{
	"needs a BuildKit daemon":                     "sends the image to an engine",
	"a trigger of the base may add from a remote": "sends the image to an engine",
	"not built in a dry run":                      "ends a leg of -n",
	"a dry run writes nothing":                    "ends a leg of -n",
	"content is not known":                        "makes a rule silent",
	"walk stopped":                                "ends a walk that is done",
	"is the root":                                 "only distinguishes the root, which every image has",
	"no greeting":                                 "asks a registry another way",
	"null":                                        "is told as the config that it is",
	"decode layer index: not of this version":     "what is remembered is found out anew",
	"… entries in … bytes":                        "what is remembered is found out anew",
	"entries out of order":                        "what is remembered is found out anew",
	"names too long":                              "what is remembered is found out anew",
	"bytes after the last entry":                  "what is remembered is found out anew",
	"ends too early":                              "what is remembered is found out anew",
	"path is not clean":                           "what is remembered is found out anew",
	"hard link to no file":                        "what is remembered is found out anew",
	"content is not a section of a layer":         "a layer that is made here is not remembered",
	"unexpected end of the graph":                 "BuildKit of this version makes no such graph",
	"unexpected operation …":                      "BuildKit of this version makes no such graph",
	"unexpected input …":                          "BuildKit of this version makes no such graph",
	"input …: unexpected output … of another operation": "BuildKit of this version makes no such graph",
	"merge of nothing":                          "BuildKit of this version makes no such graph",
	"unexpected output …":                       "BuildKit of this version makes no such graph",
	"action … does not follow the one before":   "BuildKit of this version makes no such graph",
	"action …: unexpected output …":             "BuildKit of this version makes no such graph",
	"no action":                                 "BuildKit of this version makes no such graph",
	"unexpected action …":                       "BuildKit of this version makes no such graph",
	"unexpected owner …":                        "BuildKit of this version makes no such graph",
	"unexpected source …":                       "BuildKit of this version makes no such graph",
	"unexpected attribute …":                    "BuildKit of this version makes no such graph",
	"an action that this version does not know": "BuildKit of this version makes no such graph",
	"…: not supported by the native engine":     "such an image goes to an engine",
	"layer …: not in the image":                 "a bug of archmage",
	"base …: not resolved for …":                "a bug of archmage",
	"unpack …: no spool":                        "a bug of archmage",
	"edit …: bytes … to … are not in the file":  "a bug of archmage",
	"interrupted":                               "what the user did",
}

// TestEveryErrorIsExplained holds docs/troubleshooting.md to the source: each
// text that can be a cause is on the page, or on the list above.
func TestEveryErrorIsExplained(t *testing.T) {
	data, err := os.ReadFile(troubleshooting)
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(data)), " ")
	unused := map[string]bool{}
	for text := range unmet {
		unused[text] = true
	}
	texts := 0
	for _, s := range errorTexts(t) {
		if slices.Contains(withHint, s.call) || !isCause(s.text) {
			continue
		}
		texts++
		if _, ok := unmet[s.text]; ok {
			delete(unused, s.text)
			continue
		}
		if !strings.Contains(page, strings.Trim(s.text, "… ,:")) {
			t.Errorf("%s: docs/troubleshooting.md does not explain %q", s.file, s.text)
		}
	}
	for text := range unused {
		t.Errorf("no error says %q any more", text)
	}
	if texts < 100 {
		t.Errorf("%d texts of errors in the source", texts)
	}
}

// isCause reports whether a text says why; one that ends in what follows from
// another error only says where.
func isCause(text string) bool {
	return strings.Trim(text, "… ,:") != "" && !strings.HasSuffix(text, ": …")
}

// TestTroubleshootingIsWhatTheProgramSays compares the part of the page that is
// written from the source; UPDATE=1 writes it.
func TestTroubleshootingIsWhatTheProgramSays(t *testing.T) {
	data, err := os.ReadFile(troubleshooting)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), beginErrors)
	_, after, ends := strings.Cut(rest, endErrors)
	if !ok || !ends {
		t.Fatal("docs/troubleshooting.md has lost its marks")
	}
	want := before + beginErrors + usageTables(t) + endErrors + after
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(troubleshooting, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Error("docs/troubleshooting.md differs from the program; write it with: UPDATE=1 go test ./cmd/archmage")
	}
}

// sections are the headings of what is written from the source, and the files
// that each is of.
var sections = []struct{ heading, files string }{
	{"Settings and archmage.yaml", `build/config/.*|build/project\.go`},
	{"The command line", `cmd/archmage/.*`},
	{"Commands and images that are found", `build/plan/.*`},
	{"plan, binaries", `build/(plan|matrix|binaries|graph)\w*\.go`},
	{"verify", `build/(verify|fix|severity)\w*\.go`},
	{"image, manifest, promote", `build/(dist|manifest|receipts|promote|image|legs|sbom|digests)\w*\.go`},
	{"inspect, audit", `build/(inspect|ref|audit)\w*\.go`},
	{"init", `build/init\w*\.go`},
	{"What audit finds", `build/audit/.*`},
}

func usageTables(t *testing.T) string {
	rows := make([][]string, len(sections))
	for _, s := range errorTexts(t) {
		if !slices.Contains(withHint, s.call) || strings.Trim(s.text, "… :") == "" {
			continue // the cause is another error
		}
		i := slices.IndexFunc(sections, func(c struct{ heading, files string }) bool {
			return regexp.MustCompile("^(" + c.files + ")$").MatchString(s.file)
		})
		if i < 0 {
			t.Errorf("%s: no section of docs/troubleshooting.md is for its errors", path.Base(s.file))
			continue
		}
		hint := cell(s.hint)
		if strings.Trim(hint, "… ") == "" {
			hint = "what it says, and the line below it" // which depends on what there is
		}
		row := fmt.Sprintf("| %s | %s |\n", code(strings.ReplaceAll(s.text, "`", "'")), hint)
		if !slices.Contains(rows[i], row) {
			rows[i] = append(rows[i], row)
		}
	}
	var b strings.Builder
	for i, c := range sections {
		if len(rows[i]) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n| it says | what to do |\n|---|---|\n%s", c.heading, strings.Join(rows[i], ""))
		}
	}
	return b.String() + "\n"
}
