package verify

import (
	"path"
	"regexp"
	"strings"

	"github.com/archmage-go/archmage/build/console"
)

// unknown is UnknownBinary: something in the directory of binaries that nothing
// puts there. Below a directory in it, or where the name is a document's, only
// what says that it is a binary counts: another tool may make the rest.
func unknown(s *state, t *take) bool {
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
	direct := path.Dir(t.path) == s.bin.dir
	return (direct || len(named(path.Base(t.path))) > 0) && !document(t.path)
}

var extension = regexp.MustCompile(`^\.[A-Za-z]+$`)

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
	default:
		message += ": no command is named " + name + ", and there is no such file"
	}
	if fix == "" && len(s.bin.commands) > 0 {
		message += "; commands are " + few(s.bin.commands)
	}
	return message, fix
}

// commandName is the command that a path seems to mean.
func (s *state) commandName(t *take) string {
	if name, _, ok := s.bin.parse(t.path); ok && name != "" {
		return name
	}
	return archless(path.Base(t.path))
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
