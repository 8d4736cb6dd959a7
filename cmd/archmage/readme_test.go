package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// readmeBlocks writes the indented blocks of a section of README.md to DIR/1,
// DIR/2 and so on, and fails unless there are that many: so that a script does
// what people are told to. usage: readme SECTION COUNT DIR
func readmeBlocks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: readme SECTION COUNT DIR")
	}
	text := ts.ReadFile(filepath.Join(ts.Getenv("CHECKOUT"), "README.md"))
	_, section, found := strings.Cut(text, "\n## "+args[0]+"\n")
	if !found {
		ts.Fatalf("README.md has no section %q", args[0])
	}
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := indented(section)
	if strconv.Itoa(len(blocks)) != args[1] {
		ts.Fatalf("section %q has %d blocks", args[0], len(blocks))
	}
	dir := ts.MkAbs(args[2])
	ts.Check(os.MkdirAll(dir, 0o755))
	for i, b := range blocks {
		ts.Check(os.WriteFile(filepath.Join(dir, strconv.Itoa(i+1)), []byte(b), 0o644))
	}
}

// indented are the blocks of a Markdown text whose lines begin with four blanks.
func indented(text string) []string {
	var blocks []string
	block := ""
	for line := range strings.Lines(text + "end\n") {
		code, isCode := strings.CutPrefix(line, "    ")
		switch {
		case isCode:
			block += code
		case line == "\n" && block != "":
			block += line
		case block != "":
			blocks = append(blocks, strings.TrimRight(block, "\n")+"\n")
			block = ""
		}
	}
	return blocks
}
