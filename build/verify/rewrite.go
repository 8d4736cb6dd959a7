package verify

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// target is what to copy instead of a source, and what its file is called in
// the image where the destination is a directory; "" is its own name.
type target struct{ source, name string }

// rewrite is the instruction as it should be: the ARGs that it lacks, then one
// COPY for what stays, then one for each target. It is "" where nothing better
// is known.
func (s *state) rewrite(list []*take, to func(*take) []target) string {
	t := list[0]
	var targets []target
	stays := slices.Clone(t.ins.Sources)
	for _, t := range first(list) {
		if new := to(t); len(new) > 0 {
			targets = append(targets, new...)
			stays = slices.DeleteFunc(stays, func(source string) bool { return source == t.written() })
		}
	}
	switch {
	case len(targets) == 0:
		return ""
	case t.ins.OnBuild || strings.Contains(t.ins.Text, "<<") || len(t.copy.Include) > 0:
		return insteadOf(list, to)
	}
	lines := s.missing(t, targets)
	if len(stays) > 0 {
		lines = append(lines, line(t.ins, stays, t.ins.Dest))
	}
	for _, n := range targets {
		dest := t.ins.Dest
		if n.name != "" && (len(t.ins.Sources)+len(targets) > 2 || s.intoDir(t)) {
			dest = within(dest, n.name)
		}
		lines = append(lines, line(t.ins, []string{n.source}, dest))
	}
	return strings.Join(append(lines, s.letIn(t, targets)...), "\n")
}

// letIn are the lines that the ignore file lacks for what is to be copied.
func (s *state) letIn(t *take, targets []target) []string {
	var lines []string
	for _, n := range targets {
		if !s.bin.command(n.name) {
			continue
		}
		if file := s.bin.path(n.name, t.r.Platform); t.ignore.drops(file) {
			lines = append(lines, s.reinclude(t, file))
		}
	}
	return lines
}

// insteadOf says which sources to name, for an instruction whose text holds
// more than what is known here, or stands in another file.
func insteadOf(list []*take, to func(*take) []target) string {
	var lines []string
	for _, t := range first(list) {
		for _, n := range to(t) {
			lines = append(lines, n.source+" instead of "+t.written())
		}
	}
	return strings.Join(lines, "\n")
}

// missing are the ARGs that the targets need and no instruction before has.
func (s *state) missing(t *take, targets []target) []string {
	var lines []string
	for _, n := range targets {
		for _, name := range variables(n.source) {
			arg := "ARG " + name
			if isAutomatic(name) && (scope{t.r.File, t.ins}).definition(name) == nil && !slices.Contains(lines, arg) {
				lines = append(lines, arg)
			}
		}
	}
	return lines
}

// intoDir reports whether a copy's destination is a directory, as far as the
// file tells: its text, the usual directories of programs, or the program that
// the image starts.
func (s *state) intoDir(t *take) bool {
	dest := t.ins.Dest
	if strings.HasSuffix(dest, "/") || dest == "." || strings.HasSuffix(dest, "/.") || wildcard(t.path) || s.dir(t) {
		return true
	}
	at := path.Clean(t.copy.Dest)
	if base := path.Base(at); base == "bin" || base == "sbin" {
		return true
	}
	_, inside := strings.CutPrefix(starts(t.r), strings.TrimSuffix(at, "/")+"/")
	return inside
}

// starts is the program that the image runs, "" where it names none by path.
func starts(r *dockerfile.Recipe) string {
	var image struct {
		Config struct{ Entrypoint, Cmd []string } `json:"config"`
	}
	_ = json.Unmarshal(r.Config, &image) // what does not parse names no program
	for _, argv := range [][]string{image.Config.Entrypoint, image.Config.Cmd} {
		if len(argv) > 0 {
			return argv[0]
		}
	}
	return ""
}

// within is a file in a directory, as a Dockerfile spells it.
func within(dir, name string) string {
	if dir == "." {
		return "./" + name
	}
	return strings.TrimSuffix(strings.TrimSuffix(dir, "/."), "/") + "/" + name
}

// line is the instruction on one line, with its flags.
func line(ins *dockerfile.Instruction, sources []string, dest string) string {
	head := append([]string{ins.Keyword}, flags(ins.Text)...)
	operands := append(slices.Clone(sources), dest)
	if slices.ContainsFunc(operands, func(w string) bool { return strings.ContainsAny(w, " \t") }) {
		for i, w := range operands {
			quoted, _ := json.Marshal(w) // a string always can be
			operands[i] = string(quoted)
		}
		return strings.Join(head, " ") + " [" + strings.Join(operands, ", ") + "]"
	}
	return strings.Join(append(head, operands...), " ")
}

// flags are the words after the keyword that begin with two dashes, whatever
// lines they are on.
func flags(text string) []string {
	var list []string
	for i, w := range words(text) {
		switch {
		case i == 0:
		case !strings.HasPrefix(w, "--"):
			return list
		default:
			list = append(list, w)
		}
	}
	return list
}

// words are those of an instruction, without continuations and comments.
func words(text string) []string {
	var list []string
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if !strings.HasPrefix(l, "#") {
			list = append(list, strings.Fields(strings.TrimRight(l, "\\`"))...)
		}
	}
	return list
}
