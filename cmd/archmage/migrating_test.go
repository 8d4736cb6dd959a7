package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestEveryCommandOfMigratingIsRun holds docs/migrating.md to the scripts: each
// section with commands has one that follows it, and no script follows another.
func TestEveryCommandOfMigratingIsRun(t *testing.T) {
	text, err := os.ReadFile("../../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range scripts {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	commands := 0
	for _, b := range blocks(string(text)) {
		if b.lang != "sh" {
			continue
		}
		commands++
		if line := "\nfollow '" + strings.ReplaceAll(b.section, "'", "''") + "'\n"; !strings.Contains(all.String(), line) {
			t.Errorf("no script follows the section %q", b.section)
		}
	}
	if commands < 6 {
		t.Errorf("%d blocks of commands in the document", commands)
	}
}

// block is a fenced block of a document.
type block struct {
	section string // the second-level heading that it stands under
	lang    string // the first word behind the fence
	file    string // what its file=NAME says
	text    string
}

func blocks(document string) []block {
	var list []block
	var in *block
	section := ""
	for line := range strings.Lines(document) {
		switch fence, ok := strings.CutPrefix(line, "```"); {
		case ok && in != nil:
			list, in = append(list, *in), nil
		case ok:
			lang, rest, _ := strings.Cut(strings.TrimSpace(fence), " ")
			in = &block{section: section, lang: lang, file: strings.TrimPrefix(rest, "file=")}
		case in != nil:
			in.text += line
		case strings.HasPrefix(line, "## "):
			section = strings.TrimSpace(line[3:])
		}
	}
	return list
}

// follow does what a section of docs/migrating.md says, in its order: a block
// with file=NAME is written, one of sh is run, line by line until one fails.
// ghcr.io/org is REGISTRY. What it printed can be matched afterwards.
// usage: follow SECTION
func follow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: follow SECTION")
	}
	text, err := os.ReadFile("../../docs/migrating.md")
	ts.Check(err)
	var stdout, stderr strings.Builder
	found := false
	for _, b := range blocks(string(text)) {
		if b.section != args[0] {
			continue
		}
		b.text = strings.ReplaceAll(b.text, "ghcr.io/org", ts.Getenv("REGISTRY"))
		if b.file != "" {
			file := ts.MkAbs(b.file)
			ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
			ts.Check(os.WriteFile(file, []byte(b.text), 0o644))
		}
		if b.lang == "sh" {
			found = true
			ts.Check(ts.Exec("sh", "-e", "-c", b.text))
			stdout.WriteString(ts.ReadFile("stdout"))
			stderr.WriteString(ts.ReadFile("stderr"))
		}
	}
	if !found {
		ts.Fatalf("the section %q has no commands", args[0])
	}
	_, _ = ts.Stdout().Write([]byte(stdout.String()))
	_, _ = ts.Stderr().Write([]byte(stderr.String()))
}
