package verify

import (
	"io/fs"
	"path"
	"regexp"
	"slices"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// blindStart is the program that images of several architectures start from one
// path of the context, "" where it is none of a take. It need not be there yet:
// that it is a compiled program follows from its name, or, of a file that is
// copied by name, from an image that could start nothing else.
func (s *state) blindStart(t *take) string {
	from, ok := s.takesStart(t)
	switch {
	case !ok || from.byName && !s.fixed(t) || s.altered(from):
		return ""
	case len(s.archs(from.file)) > 0 || document(from.file) || len(s.files.match(from.file)) > 0 || t.ignore.drops(from.file):
		return ""
	case !s.compiled(path.Base(from.file)) && !(from.byName && s.startsPrograms(t.r)):
		return ""
	}
	for _, r := range s.judged() {
		if o, ok := s.started(r); ok && o.file == from.file && r.Platform.Arch != t.r.Platform.Arch {
			return from.file
		}
	}
	return ""
}

// fixed reports whether no argument of the caller is in a source.
func (s *state) fixed(t *take) bool {
	for _, name := range variables(t.written()) {
		if !isAutomatic(name) {
			return false
		}
	}
	return true
}

// altered reports whether a RUN may have made what is started.
func (s *state) altered(from origin) bool {
	if !from.byName {
		return len(from.runs) > 0
	}
	return slices.ContainsFunc(from.runs, compiles)
}

// compiled reports whether a program of this repository has the name: a command,
// or what the go command would call the root.
func (s *state) compiled(name string) bool {
	if s.bin.command(name) {
		return true
	}
	if s.Root == nil || wildcard(name) {
		return false
	}
	if s.inCmd(name) {
		return true
	}
	data, _ := fs.ReadFile(s.Root, "go.mod")
	m := moduleLine.FindSubmatch(data)
	return m != nil && path.Base(string(versionSuffix.ReplaceAll(m[1], nil))) == name
}

// inCmd reports whether cmd/ has a directory of Go files of the name, though
// nobody may have looked for commands.
func (s *state) inCmd(name string) bool {
	if s.Root == nil || wildcard(name) {
		return false
	}
	list, _ := fs.Glob(s.Root, "cmd/"+name+"/*.go")
	return len(list) > 0
}

var (
	moduleLine    = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
	versionSuffix = regexp.MustCompile(`/v[0-9]+$`)
)

// startsPrograms reports whether an image can start nothing but compiled
// programs, since it has no interpreter.
func (s *state) startsPrograms(r *dockerfile.Recipe) bool {
	i := slices.IndexFunc(s.results(), func(b *result) bool { return b.r == r })
	if i < 0 {
		return false
	}
	if _, ok := s.results()[i].start(); !ok {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(shellNames, []string{"env", "python3", "node", "perl", "ruby"}), func(name string) bool {
		return s.may(r, r.Result, "/bin/"+name) || s.may(r, r.Result, "/usr/local/bin/"+name)
	})
}
