package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// place says whether a file is copied into a directory, and whether that is
// sure: what is in a base, and what a RUN makes, is not known.
func (s *state) place(t *take) (dir, sure bool) {
	at := path.Clean(t.copy.Dest)
	base := path.Base(at)
	scratch, runs, made := history(t, at)
	_, inside := below(at, starts(t.r))
	switch {
	case made || strings.HasSuffix(t.copy.Dest, "/") || inside && starts(t.r) != at:
		return true, true
	case starts(t.r) == at:
		return false, true
	case base == "bin" || base == "sbin":
		return true, !scratch
	}
	return s.intoDir(t), !runs && (scratch || !slices.Contains(usual, at))
}

// usual are directories that bases have, besides those for programs.
var usual = []string{
	"/etc", "/home", "/lib", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/usr", "/usr/lib", "/usr/libexec",
	"/usr/local", "/usr/local/lib", "/usr/local/libexec", "/usr/local/share", "/usr/share", "/var", "/var/lib", "/var/run",
}

// history looks at what happened before a copy to the tree that it works on: it
// began as the empty one, some RUN names the place, or the place was made a
// directory.
func history(t *take, at string) (scratch, runs, made bool) {
	scratch = true
	for _, i := range earlier(t.r, t.op) {
		o := t.r.Ops[i]
		switch {
		case o.Run != nil:
			runs = runs || strings.Contains(strings.Join(o.Run.Args, " "), at)
		case o.File != nil:
			made = made || slices.ContainsFunc(o.File.Actions, func(a dockerfile.Action) bool { return makesDir(a, at) })
		case o.Kind != dockerfile.KindMerge:
			scratch = false
		}
	}
	return scratch, runs, made
}

// makesDir reports whether at is a directory after a, as parent of what a makes
// too.
func makesDir(a dockerfile.Action, at string) bool {
	made := ""
	switch {
	case a.Mkdir != nil:
		made = path.Clean(a.Mkdir.Path) + "/"
	case a.Copy != nil:
		made = a.Copy.Dest
	}
	return at != "/" && strings.HasPrefix(made, at+"/")
}

// earlier are the operations whose tree an operation's result is laid on.
func earlier(r *dockerfile.Recipe, op int) []int {
	var list []int
	var add func(i int)
	add = func(i int) {
		if i == dockerfile.Scratch || slices.Contains(list, i) {
			return
		}
		list = append(list, i)
		switch o := r.Ops[i]; {
		case o.File != nil:
			add(o.File.Parent)
		case o.Run != nil:
			add(o.Run.Parent)
		case o.Kind == dockerfile.KindMerge:
			for _, in := range o.Inputs {
				add(in)
			}
		}
	}
	add(r.Ops[op].File.Parent)
	for _, o := range r.Ops[op:] { // COPY --link makes its layer apart
		if k := slices.Index(o.Inputs, op); o.Kind == dockerfile.KindMerge && k >= 0 {
			for _, in := range o.Inputs[:k] {
				add(in)
			}
		}
	}
	return list
}
