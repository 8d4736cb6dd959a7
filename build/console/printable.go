package console

import (
	"strings"
	"unicode"
)

// printable keeps what may come from a registry or a file from acting on the
// terminal, or on GitHub, whose runner takes lines of the log for commands. Line
// breaks stay: a compiler's output has them.
func printable(text string) string {
	return inert(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.TrimRight(text, "\n")))
}

// inert breaks what begins a workflow command: "::" at the beginning of a line,
// blanks left out, and "##[" anywhere (actions/runner, ActionCommand.cs).
func inert(text string) string {
	text = strings.ReplaceAll(text, "##[", "## [")
	if !strings.Contains(text, "::") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if bare := strings.TrimSpace(line); strings.HasPrefix(bare, "::") {
			lines[i] = strings.Replace(line, "::", ": :", 1)
		}
	}
	return strings.Join(lines, "\n")
}
