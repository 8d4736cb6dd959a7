// Package shell says what the text of a RUN does, followed without running it:
// which commands it starts, with which arguments, in which directory, and which
// variables they hear.
//
// Nothing is guessed. Variables have what the text assigns to them, each branch
// is followed on its own, and what branches disagree about is unknown after
// them; loops are followed once. What the text does not tell, such as what a
// command prints, is unknown as well. Commands in $(…) and in files that the
// text starts or reads are not among its calls.
//
// Reading stops after 2000 commands, and 8 functions or texts of sh -c deep.
// Whatever the text is, there is neither an error nor a panic.
package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Scripts reads the RUNs of one file. It parses each distinct text once: the
// recipes of an image's platforms mostly have the same. It is not for several
// goroutines.
type Scripts struct {
	// Asks reports whether a condition may be one on the platform; nil is never.
	Asks func(text string) bool
	// Hears names the variables of which each call keeps the value.
	Hears []string

	known map[string]parsed
}

// parsed is a text and its grammar, nil where it does not parse.
type parsed struct {
	text string
	file *syntax.File
}

// Follow reads the argument vector of a RUN that starts in an environment, a
// list of NAME=value, and a directory. It is nil where the language of the shell
// is not understood, or the text does not parse. An exec form that names another
// program than a shell is a script of that one command.
func (c *Scripts) Follow(args, env []string, dir string) *Script {
	p, ok := c.of(args)
	if !ok {
		return nil
	}
	return c.follow(p, env, dir)
}

// shells are those whose language is understood.
var shells = []string{"sh", "bash", "ash", "dash"}

// of is the text that an argument vector hands to a shell.
func (c *Scripts) of(args []string) (parsed, bool) {
	if len(args) == 0 {
		return parsed{}, false
	}
	if text, ok := shellText(args); ok {
		return c.parse(text)
	}
	if slices.Contains(shells, path.Base(args[0])) || strings.Contains(strings.Join(args, ""), "\x00") {
		return parsed{}, false
	}
	var words []string
	for _, a := range args {
		quoted, err := syntax.Quote(a, syntax.LangBash)
		if err != nil {
			return parsed{}, false
		}
		words = append(words, quoted)
	}
	return c.parse(strings.Join(words, " "))
}

// shellText is what follows -c, also among other flags: sh -exc, bash -o
// pipefail -c.
func shellText(args []string) (string, bool) {
	if !slices.Contains(shells, path.Base(args[0])) {
		return "", false
	}
	for i, a := range args[1:] {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+2 < len(args) {
			return args[i+2], true
		}
	}
	return "", false
}

func (c *Scripts) parse(text string) (parsed, bool) {
	p, known := c.known[text]
	if !known {
		if c.known == nil {
			c.known = map[string]parsed{}
		}
		p.text = text
		if file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), ""); err == nil {
			p.file = file
		}
		c.known[text] = p
	}
	return p, p.file != nil
}

// source is the text of a node.
func (p parsed) source(n syntax.Node) string {
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if start > end || end > len(p.text) {
		return p.text
	}
	return p.text[start:end]
}
