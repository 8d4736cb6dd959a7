package verify

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// ignored is IgnoredBinary: a binary that is copied by name, or all that a
// pattern or directory takes of the platform's binaries.
func ignored(s *state, t *take) bool { return len(s.kept(t)) > 0 }

// kept lists the binaries that a source takes and the ignore file keeps away.
func (s *state) kept(t *take) []string {
	switch {
	case t.whole():
		return nil
	case !s.many(t):
		if t.ignore.drops(t.path) && s.named(t) {
			return []string{t.path}
		}
		return nil
	}
	var list []string
	for _, c := range s.bin.commands {
		i := slices.IndexFunc(s.bin.paths(c, t.r.Platform), func(file string) bool { return takes(t.path, file) })
		if i < 0 {
			continue
		}
		file := s.bin.paths(c, t.r.Platform)[i]
		if !t.ignore.drops(file) {
			return nil
		}
		list = append(list, file)
	}
	for _, m := range s.files.match(t.path) {
		sent := false
		s.files.walk(m, func(file string) { sent = sent || !t.ignore.drops(file) })
		if sent {
			return nil
		}
	}
	return list
}

// named reports whether a path is a binary's: one that a command or another
// tool makes where binaries are, or a program.
func (s *state) named(t *take) bool {
	return s.bin.makes(t.path, t.r.Platform) || s.files.program(t.path) != "" ||
		s.bin.contains(t.path) && !document(t.path)
}

func tellIgnored(s *state, list []*take) (message, fix string) {
	var texts, lines []string
	byPattern := map[string][]*take{}
	var order []string
	for _, t := range list {
		pattern, n := t.ignore.culprit(s.kept(t)[0])
		where := fmt.Sprintf("%s:%d (%s)", t.ignore.Path, n, strings.TrimSpace(pattern))
		if byPattern[where] == nil {
			order = append(order, where)
		}
		byPattern[where] = append(byPattern[where], t)
		for _, file := range s.kept(t) {
			if l := s.reinclude(t, file); !slices.Contains(lines, l) {
				lines = append(lines, l)
			}
		}
	}
	for _, where := range order {
		texts = append(texts, fmt.Sprintf("%s, which %s keeps out of the context",
			whoCopies(byPattern[where], func(t *take) string { return few(s.kept(t)) }), where))
	}
	return strings.Join(texts, "; "), strings.Join(lines, "\n")
}

// reinclude is the line that the ignore file lacks, and where.
func (s *state) reinclude(t *take, file string) string {
	return "at the end of " + t.ignore.Path + ": !" + s.again(t, file)
}

// again is the pattern that lets a binary in on every platform; the file itself
// where such a pattern would not.
func (s *state) again(t *take, file string) string {
	pattern := file
	if name, _, ok := s.bin.parse(file); ok {
		pattern = s.bin.all(name)
	} else if words := named(path.Base(file)); len(words) > 0 {
		at := len(file) - len(path.Base(file))
		pattern = file[:at+words[0].start] + "*"
	}
	if drops(matcher(append(slices.Clone(t.ignore.Patterns), "!"+pattern)), file) {
		return file
	}
	return pattern
}
