package audit

import (
	"path"
	"slices"
	"strings"
)

const (
	// maxShebang is how much of the first line Linux looks at, in bytes
	// (BINPRM_BUF_SIZE).
	maxShebang = 256
	// maxScripts is how many scripts may interpret each other, as in Linux.
	maxScripts = 4
)

// script follows a script to its interpreter, which has to be there and to be
// for the image's platform. Linux hands it all that follows its name as one
// argument; env looks for a program of that name.
func (l *look) script(p, head string, depth int) {
	line, _, whole := strings.Cut(strings.TrimPrefix(head, "#!"), "\n")
	if !whole && len(head) == maxShebang {
		l.unsure(p, "the line that names its interpreter is longer than %d bytes", maxShebang)
		return
	}
	interp, arg, _ := strings.Cut(strings.Trim(line, " \t"), " ")
	arg = strings.Trim(arg, " \t")
	switch {
	case strings.HasSuffix(line, "\r"):
		l.wrong("save it with Unix line endings", p, "its first line ends in a carriage return, which Linux takes for a part of the interpreter's name")
		return
	case interp == "":
		l.wrong(fixScript, p, "its first line names no interpreter")
		return
	case depth == maxScripts:
		l.wrong(fixScript, p, "more than %d scripts interpret each other", maxScripts)
		return
	}
	at, n := l.command(l.fromWorkdir(interp), p+": its interpreter", fixScript)
	if n == nil {
		return
	}
	l.start(at, n, depth+1)
	if path.Base(interp) != "env" {
		return
	}
	word, ok := envProgram(arg)
	if !ok {
		l.unsure(p, "what env starts with %q", arg)
		return
	}
	if at, n := l.command(word, p+": its interpreter", fixScript); n != nil {
		l.start(at, n, depth+1)
	}
}

// envProgram is the program that env starts, with the one argument that a
// script's first line gives it.
func envProgram(arg string) (string, bool) {
	words := []string{arg}
	if rest, split := strings.CutPrefix(arg, "-S"); split {
		words = strings.Fields(rest)
		words = slices.DeleteFunc(words, func(w string) bool { return strings.Contains(w, "=") && !strings.HasPrefix(w, "-") })
	}
	if len(words) == 0 || words[0] == "" || words[0][0] == '-' || strings.ContainsAny(words[0], `"'\$=`) {
		return "", false
	}
	return words[0], true
}
