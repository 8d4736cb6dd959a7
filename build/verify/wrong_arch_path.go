package verify

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// wrongArch is WrongArchPath: of what is a binary, or would be if it were
// there, and ends up in the image.
func wrongArch(s *state, t *take) bool {
	if t.whole() {
		return false
	}
	if _, ok := s.bin.archless(t.path); ok || s.callerDecides(t) {
		return false
	}
	return foreign(s.archs(t.path), t.r.Platform) && s.isBinary(t) && s.inImage(t)
}

// archs is what a path says of its architecture. A path of the form says it in
// one place: a command may be named after an architecture.
func (s *state) archs(file string) []archWord {
	if _, p, ok := s.bin.parse(file); ok {
		return []archWord{{Platform: p}}
	}
	return named(file)
}

// isBinary tells binaries from documents that are about an architecture: what
// is an ELF program, what a command makes, and what is to be made in the
// directory of binaries, or outside it under a command's name for Linux.
func (s *state) isBinary(t *take) bool {
	name, _, form := s.bin.parse(t.path)
	if form && s.bin.command(name) {
		return true
	}
	if len(s.files.programsIn(t.path)) > 0 {
		return true
	}
	if from, ok := s.takesStart(t); ok && len(s.files.match(from.file)) == 0 {
		return true
	}
	if len(s.files.match(t.path)) > 0 {
		return false
	}
	return s.bin.contains(t.path) && !document(t.path) || s.commandElsewhere(t.path) || forLinux(t.path)
}

// forLinux reports whether a file's name ends in the system and the architecture,
// as those of programs do.
func forLinux(file string) bool {
	base := lower(path.Base(file))
	words := named(base)
	if len(words) == 0 || words[len(words)-1].end != len(base) {
		return false
	}
	before := strings.TrimRight(base[:words[0].start], "-_.")
	return strings.HasSuffix(before, "-linux") || strings.HasSuffix(before, "_linux") || strings.HasSuffix(before, ".linux")
}

// commandElsewhere knows the binaries that other build tools leave under a
// command's name: dist/app_linux_amd64_v1/app, out/app-linux-amd64.
func (s *state) commandElsewhere(file string) bool {
	words := wordPattern.FindAllString(strings.ToLower(file), -1)
	linux := slices.Contains(words, "linux")
	base := file[strings.LastIndex(file, "/")+1:]
	if document(file) {
		return false
	}
	for _, c := range s.bin.commands {
		rest, ok := strings.CutPrefix(base, c)
		if linux && ok && (rest == "" || len(named(rest)) > 0 && strings.ContainsAny(rest[:1], "-_.")) {
			return true
		}
	}
	return linux && s.compiled(archless(base))
}

func tellWrongArch(s *state, list []*take) (message, fix string) {
	message = whoCopies(list, func(t *take) string {
		words := s.archs(t.path)
		return t.path + ", a binary for " + strings.TrimPrefix(words[len(words)-1].String(), "linux/")
	})
	fix = s.rewrite(list, s.archVariable)
	if by := deciders(list[0].r.File, list[0].ins, list[0].written()); len(by) > 0 {
		message += ": " + argumentNames(by) + " says so on every platform"
		fix = cmp.Or(fix, s.argumentFix(spot{r: list[0].r, ins: list[0].ins}, by))
	}
	return message, fix
}

// archVariable is the source as it should be: with variables where it names an
// architecture, and none where that is not to be seen from here.
func (s *state) archVariable(t *take) []target {
	if wildcard(t.path) {
		return s.perArch(t)
	}
	if name, _, form := s.bin.parse(t.path); form {
		return []target{{s.bin.variable(name), name}}
	}
	base := t.path[strings.LastIndex(t.path, "/")+1:]
	if s.bin.command(base) && s.bin.form != "" {
		return []target{{s.bin.variable(base), base}}
	}
	words := named(t.written())
	if len(words) == 0 || len(variables(t.written())) > 0 {
		return nil // a variable decides, and may do so elsewhere too
	}
	w := words[len(words)-1]
	name := archless(base)
	if s.dir(t) {
		name = "" // its content is copied, not the directory
	}
	return []target{{t.written()[:w.start] + "${TARGETARCH}" + t.written()[w.end:], name}}
}

// archless is a file's name without what it says of a platform at its end.
func archless(base string) string {
	words := named(base)
	if len(words) == 0 {
		return base
	}
	cut := strings.TrimRight(base[:words[0].start], "-_.")
	cut = strings.TrimRight(strings.TrimSuffix(cut, "linux"), "-_.")
	if cut == "" {
		return base
	}
	return cut
}
