package verify

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// blind is ArchBlindCopy. What is named file by file is judged by its path, and
// by its ELF header if it is there; a directory or pattern by what it takes.
func blind(s *state, t *take) bool {
	if s.many(t) {
		return len(s.strays(t)) > 0
	}
	arch := s.files.program(t.path)
	_, command := s.bin.archless(t.path)
	if path.Dir(t.path) != s.bin.dir && s.files.exists(t.path) && arch == "" {
		command = false // deep in the directory of binaries a document may have the name
	}
	if command && len(s.sharing(t)) > 1 || s.blindStart(t) != "" {
		return true
	}
	return arch != "" && len(s.archs(t.path)) == 0 &&
		slices.ContainsFunc(s.sharing(t), func(p platform.Platform) bool { return p.Arch != arch })
}

// many reports whether a source may be several files, now or once commands are
// compiled.
func (s *state) many(t *take) bool {
	return wildcard(t.path) || s.files.isDir(t.path) || t.path == s.bin.dir ||
		s.bin.below(t.path)
}

// sharing are the platforms whose image gets the same file by its name, from
// whatever instruction.
func (s *state) sharing(t *take) []platform.Platform {
	var list []platform.Platform
	for _, o := range s.takes {
		if o.path == t.path && !slices.Contains(list, o.r.Platform) && o.puts(o.path, always) {
			list = append(list, o.r.Platform)
		}
	}
	if !slices.Contains(list, t.r.Platform) {
		return nil // others may, this one does not
	}
	return list
}

// strays are the files that a directory or a pattern takes along for a platform
// they are not for: binaries that commands have on the image's other platforms,
// and ELF programs that lie there.
func (s *state) strays(t *take) []string {
	var list []string
	if !t.whole() {
		list = s.planned(t, func(q platform.Platform) bool { return q != t.r.Platform }, true)
	}
	if file := s.blindStart(t); file != "" && !slices.Contains(list, file) {
		list = append(list, file)
	}
	asked := s.bin.contains(t.path) || t.path == s.bin.dir
	keeps := always
	if !asked {
		keeps = unlessCompiled
	}
	if !connected(t.r, t.op, keeps) {
		return list
	}
	for _, file := range s.files.programsIn(t.path) {
		if s.files.program(file) == t.r.Platform.Arch || t.ignore.drops(file) || slices.Contains(list, file) {
			continue
		}
		if !asked && !wildcard(t.path) && len(s.archs(file)) > 0 {
			continue // sorted by architecture: the image chooses when it runs
		}
		if t.puts(file, keeps) {
			list = append(list, file)
		}
	}
	if list == nil && t.path == s.bin.dir && s.nothingLeft(t) {
		list = s.planned(t, func(platform.Platform) bool { return true }, false)
	}
	return list
}

// planned lists the binaries that a source takes of the image's platforms that
// are asked for, as far as the platform of t has no binary of that name. sent
// leaves out those that the ignore file drops.
func (s *state) planned(t *take, of func(platform.Platform) bool, sent bool) []string {
	var list []string
	platforms := s.platforms()
	for _, c := range s.bin.commands {
		own := s.bin.paths(c, t.r.Platform)
		for _, q := range platforms {
			for _, file := range s.bin.paths(c, q) {
				other := q != t.r.Platform && slices.Contains(own, file)
				if of(q) && !other && takes(t.path, file) && !(sent && t.ignore.drops(file)) && t.puts(file, always) {
					list = append(list, file)
				}
			}
		}
	}
	return list
}

// nothingLeft is a copy of the directory of binaries of which the ignore file
// leaves nothing. Letting it in would take the binaries of all platforms.
func (s *state) nothingLeft(t *take) bool {
	left := false
	s.files.walk(t.path, func(file string) { left = left || s.files.exists(file) && !t.ignore.drops(file) })
	return !left && len(s.bin.commands) > 0 && len(s.platforms()) > 1 && t.r.ReachesResult(t.op)
}

func tellBlind(s *state, list []*take) (message, fix string) {
	var texts []string
	var many []*take
	files := map[string][]string{}
	for _, t := range list {
		if s.many(t) {
			many = append(many, t)
			continue
		}
		who := names([]platform.Platform{t.r.Platform}) + " copies "
		if all := s.sharing(t); len(all) > 1 {
			who = names(all) + " copy the same "
		}
		file := cmp.Or(s.blindStart(t), t.path)
		if arch := s.files.program(t.path); arch != "" {
			file += ", a program for " + arch
		}
		if files[who] == nil {
			texts = append(texts, who)
		}
		if !slices.Contains(files[who], file) {
			files[who] = append(files[who], file)
		}
	}
	for i, who := range texts {
		texts[i] = who + and(files[who])
	}
	if len(many) > 0 {
		texts = append(texts, whoCopies(many, func(t *take) string { return t.path + " (with " + few(s.labels(s.strays(t))) + ")" }))
	}
	return strings.Join(texts, "; "), s.rewrite(list, s.perArch)
}

// labels adds what a program was compiled for, where its name does not say.
func (s *state) labels(list []string) []string {
	out := slices.Clone(list)
	for i, file := range out {
		if arch := s.files.program(file); arch != "" && len(s.archs(file)) == 0 {
			out[i] = file + " for " + arch
		}
	}
	return out
}

// few shortens a list for a message.
func few(list []string) string {
	const shown = 3
	if len(list) <= shown {
		return and(list)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:shown], ", "), len(list)-shown)
}

// perArch is what to copy instead: the binary of each command that is meant, or
// a file for each architecture.
func (s *state) perArch(t *take) []target {
	if c, ok := s.bin.archless(t.path); ok {
		return []target{{s.bin.variable(c), c}}
	}
	if s.many(t) {
		var list []target
		for _, c := range s.commandsIn(t) {
			list = append(list, target{s.bin.variable(c), c})
		}
		return list
	}
	base := path.Base(t.path)
	if (s.bin.command(base) || s.inCmd(base)) && s.bin.form != "" {
		return []target{{s.bin.variable(base), base}}
	}
	return []target{{t.written() + "-${TARGETARCH}", base}}
}

// commandsIn are the commands of whose binaries a source takes any by name.
func (s *state) commandsIn(t *take) []string {
	if t.whole() {
		return nil
	}
	return s.bin.taken(t.path)
}
