package verify

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// may reports whether an interpreter may be at a path of an operation's tree, or
// where else that path leads to on a system whose directories of programs are
// one. Unlike a world, it takes it that nobody hides a shell: in a program that
// is copied by its name, or in a directory that has no programs.
func (s *state) may(r *dockerfile.Recipe, op int, p string) bool {
	if !slices.Contains(programDirs, path.Dir(p)) {
		return s.maybe(r, op, p)
	}
	return slices.ContainsFunc(programDirs, func(dir string) bool { return s.maybe(r, op, path.Join(dir, path.Base(p))) })
}

func (s *state) maybe(r *dockerfile.Recipe, op int, p string) bool {
	if op == dockerfile.Scratch {
		return false
	}
	switch o := r.Ops[op]; {
	case o.Base != nil:
		if slices.Contains(programDirs, path.Dir(path.Dir(p))) {
			return false // below a program
		}
		known := knownAs(o.Base.Ref)
		return known == nil || known.shell || known.has(p) && slices.Contains(shellNames, path.Base(p))
	case o.Kind == dockerfile.KindMerge:
		return slices.ContainsFunc(o.Inputs, func(in int) bool { return s.maybe(r, in, p) })
	case o.File == nil:
		return o.Run != nil || o.Kind == dockerfile.KindGit
	}
	file := r.Ops[op].File
	return slices.ContainsFunc(file.Actions, func(a dockerfile.Action) bool { return a.Copy != nil && s.brings(r, a.Copy, p) }) ||
		s.maybe(r, file.Parent, p)
}

var archiveName = regexp.MustCompile(`\.(?:tar(?:\.[a-z0-9]+)?|t[bgx]z2?|tzst)$`)

// brings is maybe for one copy.
func (s *state) brings(r *dockerfile.Recipe, c *dockerfile.Copy, p string) bool {
	src := path.Clean(c.Src)
	rel, covers := below(path.Clean(c.Dest), p)
	switch {
	case !covers || c.From == dockerfile.Scratch:
		return false
	case c.Unpack && archiveName.MatchString(src):
		return true
	case r.Ops[c.From].Kind != dockerfile.KindContext:
		return slices.ContainsFunc(s.sources(c, p, false), func(q string) bool { return s.maybe(r, c.From, q) })
	case slices.ContainsFunc(s.sources(c, p, true), func(q string) bool { return s.files.exists(strings.TrimPrefix(q, "/")) }):
		return true
	}
	if from, ok := s.started(r); ok && from.byName && "/"+from.file == src || c.Wildcard && wildcard(src) && !mayMatch(path.Base(src), rel) {
		return false
	}
	top, _, deep := strings.Cut(rel, "/")
	dir := cmp.Or(strings.TrimPrefix(src, "/"), ".")
	if s.files.isDir(dir) {
		return deep && s.files.isDir(path.Join(dir, top)) // the rest may be made there
	}
	return !s.files.exists(dir) && rel != "" // it may be a directory
}

// mayMatch reports whether a pattern takes the first element of a path.
func mayMatch(pattern, rel string) bool {
	first, _, _ := strings.Cut(rel, "/")
	ok, _ := path.Match(pattern, first)
	return ok
}
