package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

const migrating = "docs/migrating.md"

// block is a block of a document, fenced or indented by four blanks.
type block struct {
	section string // the heading that it stands under
	lang    string // the first word behind the fence
	file    string // what its file=NAME says
	text    string
}

// programs are what a line begins with that people are to type.
var programs = []string{
	"archmage", "archmage-registry", "cosign", "crane", "curl", "docker", "echo", "for", "gh", "git", "go", "kind", "kubectl", "mage", "make",
	"mkdir", "oras", "podman", "regctl", "scripts/bench", "scripts/engines", "scripts/picture", "scripts/test-engines", "scripts/vulncheck", "sh", "sha256sum", "skopeo", "sudo", "syft", "tmux", "while", "xargs",
}

// commands reports whether the block is to be typed into a shell. What others
// typed before, in a block of console, is not.
func (b block) commands() bool {
	switch b.lang {
	case "sh", "bash", "shell":
		return true
	case "":
		words := strings.Fields(b.text)
		for len(words) > 0 && setting.MatchString(words[0]) { // VERSION=v1 archmage …
			words = words[1:]
		}
		return len(words) > 0 && slices.Contains(programs, words[0])
	}
	return false
}

// parts are what docs/migrating.md divides its sections into.
var parts = []string{"Before", "After", "Lost"}

var setting = regexp.MustCompile(`^[A-Z_]+=`)

func blocks(document string) []block {
	var list []block
	var in *block
	section, indent := "", ""
	end := func() {
		if indent != "" {
			list = append(list, block{section: section, text: strings.TrimRight(indent, "\n") + "\n"})
		}
		indent = ""
	}
	for line := range strings.Lines(document + "\n.\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		code, isIndented := strings.CutPrefix(line, "    ")
		heading := strings.TrimLeft(line, "#")
		switch {
		case isFence && in != nil:
			list, in = append(list, *in), nil
		case in != nil:
			in.text += line
		case isIndented:
			indent += code
		case line == "\n" && indent != "":
			indent += line
		case isFence:
			end()
			lang, rest, _ := strings.Cut(strings.TrimSpace(fence), " ")
			in = &block{section: section, lang: lang, file: strings.TrimPrefix(rest, "file=")}
		default:
			end()
			name := strings.TrimSpace(heading)
			if depth := len(line) - len(heading); depth == 2 || depth == 3 && !slices.Contains(parts, name) {
				section = name
			}
		}
	}
	return list
}

// follow does what a section of a document says, in its order: a block with
// file=NAME is written, one of commands is run, line by line until one fails.
// ghcr.io/org is REGISTRY. What it printed can be matched afterwards.
// usage: follow [PAGE] SECTION, where PAGE is docs/migrating.md if it is not given
// and SECTION is empty for what stands before the first one.
func follow(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 1 {
		args = []string{migrating, args[0]}
	}
	if neg || len(args) != 2 {
		ts.Fatalf("usage: follow [PAGE] SECTION")
	}
	text, err := os.ReadFile(filepath.Join("../..", args[0]))
	ts.Check(err)
	var stdout, stderr strings.Builder
	found := false
	for _, b := range blocks(string(text)) {
		if b.section != args[1] {
			continue
		}
		b.text = strings.ReplaceAll(b.text, "ghcr.io/org", ts.Getenv("REGISTRY"))
		if b.file != "" {
			file := ts.MkAbs(b.file)
			ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
			ts.Check(os.WriteFile(file, []byte(b.text), 0o644))
		}
		if b.commands() {
			found = true
			ts.Check(ts.Exec("sh", "-e", "-c", b.text))
			stdout.WriteString(ts.ReadFile("stdout"))
			stderr.WriteString(ts.ReadFile("stderr"))
		}
	}
	if !found {
		ts.Fatalf("the section %q of %s has no commands", args[1], args[0])
	}
	_, _ = ts.Stdout().Write([]byte(stdout.String()))
	_, _ = ts.Stderr().Write([]byte(stderr.String()))
}
