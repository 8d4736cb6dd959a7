package verify

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// script is the shell text of a RUN. Tools for a shell that is not known, and
// text that does not parse, have none.
type script struct {
	text string
	file *syntax.File
}

// scripts parses each distinct text once: the recipes of an image's platforms
// mostly have the same.
type scripts map[string]*syntax.File // nil where a text does not parse

// shells are those whose language is understood.
var shells = []string{"sh", "bash", "ash", "dash"}

// of is the script that an argument vector hands to a shell. An exec form that
// names another program is a script of one command.
func (c scripts) of(args []string) (script, bool) {
	if len(args) == 0 {
		return script{}, false
	}
	if text, ok := shellText(args); ok {
		return c.parse(text)
	}
	if slices.Contains(shells, path.Base(args[0])) || strings.Contains(strings.Join(args, ""), "\x00") {
		return script{}, false
	}
	var words []string
	for _, a := range args {
		quoted, err := syntax.Quote(a, syntax.LangBash)
		if err != nil {
			return script{}, false
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

func (c scripts) parse(text string) (script, bool) {
	file, known := c[text]
	if !known {
		var err error
		file, err = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
		if err != nil {
			file = nil
		}
		c[text] = file
	}
	return script{text, file}, file != nil
}

// source is the text of a node.
func (c script) source(n syntax.Node) string {
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if start > end || end > len(c.text) {
		return c.text
	}
	return c.text[start:end]
}

// archish finds what asks for a platform: where a condition has it, what
// follows may be for one platform alone.
var archish = regexp.MustCompile(`(?i)arch|platform|target|uname|dpkg|\b(os|goos|variant)\b`)

// asksPlatform reports whether text may tell platforms apart.
func asksPlatform(text string) bool { return archish.MatchString(text) || len(named(text)) > 0 }
