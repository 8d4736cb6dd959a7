package verify

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/console"
)

// unknownBinary is UnknownBinary: something in the directory of binaries that
// nothing puts there. What names no command, but the right architecture in a
// form of its own, another tool may well make before the image is built.
func unknownBinary(s *state) []Finding {
	list := each(unknown, tellUnknown)(s)
	for _, f := range each(unmade, tellUnmade)(s) {
		f.Severity = Warning
		list = append(list, f)
	}
	return list
}

// unknown is what surely nobody makes.
func unknown(s *state, t *take) bool {
	if !s.lacking(t) {
		return false
	}
	_, _, form := s.bin.parse(t.path)
	return wildcard(t.path) || form || s.bin.command(s.commandName(t)) || !s.sorted(t)
}

// unmade is what nobody makes here.
func unmade(s *state, t *take) bool { return s.lacking(t) }

// lacking reports whether a source lies in the directory of binaries, gets into
// the image, and neither a command nor a file is there. Below a directory in
// it, or where the name is a document's, only a command's name or form counts:
// another tool may make the rest.
func (s *state) lacking(t *take) bool {
	switch {
	case !s.bin.contains(t.path) || !s.inImage(t):
		return false
	case len(s.files.match(t.path)) > 0:
		return false
	case wildcard(t.path):
		return len(s.commandsIn(t)) == 0
	case s.dir(t) || len(s.commandsIn(t)) > 0:
		return false
	}
	if _, _, ok := s.bin.parse(t.path); ok {
		return true
	}
	switch base := path.Base(t.path); {
	case document(t.path):
		return false
	case path.Dir(t.path) != s.bin.dir:
		return len(named(base)) > 0 && s.bin.command(s.commandName(t))
	}
	return true
}

// sorted reports whether a name says the platform's architecture, and so may be
// one of several that belong together.
func (s *state) sorted(t *take) bool {
	return slices.ContainsFunc(named(path.Base(t.path)), func(w archWord) bool { return runs(w.Platform, t.r.Platform) })
}

var extension = regexp.MustCompile(`^\.(?:[A-Za-z]+|[A-Za-z]{2,}[0-9])$`)

// document reports whether a name has an extension that no binary has.
func document(file string) bool {
	ext := path.Ext(file)
	return extension.MatchString(ext) && len(named(ext)) == 0
}

func tellUnknown(s *state, list []*take) (message, fix string) {
	message = whoCopies(list, itsPath)
	t := list[0]
	fix = s.rewrite(list, s.nearest)
	name := s.commandName(t)
	by := deciders(t.r.File, t.ins, t.written())
	switch {
	case len(by) > 0 && len(named(t.path)) == 0:
		return message + ": " + argumentNames(by) + " has no value", s.argumentFix(spot{r: t.r, ins: t.ins}, by)
	case wildcard(t.path):
		message += ": no binary of a command and no file matches"
	case s.bin.command(name):
		message += ", which does not exist: the binary of " + name + " is " + s.bin.path(name, t.r.Platform)
		if form := s.ownForm(list, name); form != "" {
			message += ", unless IMAGE_BIN is " + form
		}
	default:
		message += ": no command is named " + name + ", and there is no such file"
	}
	return message + s.choice(fix), fix
}

// tellUnmade is for what another tool may make.
func tellUnmade(s *state, list []*take) (message, fix string) {
	message = fmt.Sprintf("%s: no command is named %s, and there is no such file unless another tool makes it first",
		whoCopies(list, itsPath), s.commandName(list[0]))
	fix = s.rewrite(list, s.nearest)
	return message + s.choice(fix), fix
}

// choice names the commands where no fix does.
func (s *state) choice(fix string) string {
	if fix != "" || len(s.bin.commands) == 0 {
		return ""
	}
	return "; commands are " + few(s.bin.commands)
}

// commandName is the command that a path seems to mean.
func (s *state) commandName(t *take) string {
	if name, _, ok := s.bin.parse(t.path); ok && name != "" {
		return name
	}
	base := path.Base(t.path)
	for _, c := range slices.Backward(slices.Sorted(slices.Values(s.bin.commands))) { // app-server before app
		rest, ok := strings.CutPrefix(base, c)
		if words := named(rest); ok && len(words) > 0 && strings.Trim(strings.TrimPrefix(rest[:words[0].start], "linux"), "-_.") == "" {
			return c // appamd64 too
		}
	}
	return archless(base)
}

// ownForm is the IMAGE_BIN with which a command's binary would be what is copied,
// on every platform; "" where there is none.
func (s *state) ownForm(list []*take, command string) string {
	form := ""
	for _, t := range list {
		dir, base := path.Split(t.path)
		rest, ok := strings.CutPrefix(base, command)
		p := t.r.Platform
		switch arch := p.Arch + p.Variant; {
		case !ok:
			return ""
		case strings.HasSuffix(rest, arch):
			rest = strings.TrimSuffix(rest, arch) + "{arch}{variant}"
		default:
			return ""
		}
		own := strings.ReplaceAll(dir, "linux/", "{os}/") + "{name}" + strings.ReplaceAll(rest, "linux", "{os}")
		if form != "" && form != own || s.Context != "" && s.Context != "." {
			return ""
		}
		form = own
	}
	return form
}

// nearest is the binary of the command that was most likely meant.
func (s *state) nearest(t *take) []target {
	name := strings.Trim(s.commandName(t), "*?[]-_.")
	if !s.bin.command(name) {
		near := console.Nearest(name, s.bin.commands)
		if name == "" || len(near) == 0 {
			return nil
		}
		name = near[0]
	}
	return []target{{s.bin.variable(name), name}}
}
