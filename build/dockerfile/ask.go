package dockerfile

import (
	"path"
	"slices"
	"strings"
)

// NeedsEngine gives the operation that keeps this recipe from being built
// natively, the first by its place in the file, and whether there is one: a
// RUN, an ADD from git, or a foreign front end.
func (r *Recipe) NeedsEngine() (Op, bool) {
	first, found := Op{}, false
	for _, op := range r.Ops {
		switch op.Kind {
		case KindRun, KindGit, KindFrontend:
			if !found || op.line() < first.line() {
				first, found = op, true
			}
		}
	}
	return first, found
}

func (op Op) line() int {
	if len(op.Ranges) == 0 {
		return 0
	}
	return op.Ranges[0].Start.Line
}

// ContextCopy is one source of an instruction that takes from a build context.
type ContextCopy struct {
	Op     int      // index into Recipe.Ops
	Action int      // index into its Actions; -1 for a RUN --mount
	Paths  []string // cleaned, relative to the context, "." is all of it; wildcards kept; several only with --parents
	Range  Range    // of the instruction
}

// ContextCopies lists what is taken from the context, in the order of the
// operations; an operation that stands in several places is listed for each.
func (r *Recipe) ContextCopies() []ContextCopy {
	var list []ContextCopy
	add := func(at, action int, paths []string) {
		ranges := r.Ops[at].Ranges
		if len(ranges) == 0 {
			ranges = []Range{{}}
		}
		for _, where := range ranges {
			list = append(list, ContextCopy{Op: at, Action: action, Paths: paths, Range: where})
		}
	}
	for i, op := range r.Ops {
		if op.File != nil {
			for k, a := range op.File.Actions {
				if a.Copy != nil && r.isContext(a.Copy.From) {
					add(i, k, a.Copy.sources())
				}
			}
		}
		if op.Run != nil {
			for _, m := range op.Run.Mounts {
				if r.isContext(m.From) {
					add(i, -1, []string{relative(m.Source)})
				}
			}
		}
	}
	return list
}

func (r *Recipe) isContext(op int) bool { return op != Scratch && r.Ops[op].Kind == KindContext }

// sources joins Src and Include, which --parents splits a source into.
func (c *Copy) sources() []string {
	if len(c.Include) == 0 {
		return []string{relative(c.Src)}
	}
	list := make([]string, len(c.Include))
	for i, p := range c.Include {
		list[i] = relative(path.Join(c.Src, p))
	}
	return list
}

func relative(p string) string { return path.Join(".", path.Clean("/" + p)[1:]) }

// contextUse is the union of what is copied. BuildKit's own list has sources of
// ADD that are no files, and sources of instructions that add nothing.
func (r *Recipe) contextUse() ContextUse {
	var use ContextUse
	for _, c := range r.ContextCopies() {
		for _, p := range c.Paths {
			if p == "." {
				use.Whole = true
			} else {
				use.Paths = append(use.Paths, p)
			}
		}
	}
	slices.Sort(use.Paths)
	use.Paths = slices.Compact(use.Paths)
	return use
}

// parent is the operation whose tree op changes, or itself where it has none.
func (r *Recipe) parent(at int) int {
	switch op := r.Ops[at]; op.Kind {
	case KindFile:
		return op.File.Parent
	case KindRun:
		return op.Run.Parent
	case KindMerge:
		return op.Inputs[0]
	}
	return at
}

// finalBase follows the result down to what everything is put on.
func (r *Recipe) finalBase() *Base {
	for at := r.Result; at != Scratch; {
		next := r.parent(at)
		if next == at {
			return r.Ops[at].Base
		}
		at = next
	}
	return nil
}

// ReachesResult reports whether files that an operation puts into its tree may
// be in the image, at the paths it puts them or where COPY --from took them. A
// base or context reaches it where anything is taken from it. Paths are compared
// as written: a RUN keeps what its tree held, but what its command moves or
// makes of it is not followed, nor are symlinks.
func (r *Recipe) ReachesResult(op int) bool {
	if r.Result == Scratch || op < 0 || op >= len(r.Ops) {
		return false
	}
	wanted := r.wanted()
	file := r.Ops[op].File
	if file == nil {
		return len(wanted[op]) > 0
	}
	return slices.ContainsFunc(file.Actions, func(a Action) bool { return overlap(wanted[op], a.dest()) })
}

// wanted lists, for each operation, the paths of its tree that the image may
// take files from. Uses come after what they use, so one pass from the end sees
// every use first.
func (r *Recipe) wanted() [][]string {
	wanted := make([][]string, len(r.Ops))
	want := func(op int, paths ...string) {
		if op != Scratch {
			wanted[op] = append(wanted[op], paths...)
		}
	}
	want(r.Result, "/")
	for i, op := range slices.Backward(r.Ops) {
		if len(wanted[i]) == 0 {
			continue
		}
		switch op.Kind {
		case KindMerge:
			for _, in := range op.Inputs {
				want(in, wanted[i]...)
			}
		case KindRun:
			want(op.Run.Parent, wanted[i]...)
		case KindFile:
			want(op.File.Parent, wanted[i]...)
			for _, a := range op.File.Actions {
				if a.Copy != nil && overlap(wanted[i], a.dest()) {
					for _, p := range a.Copy.sources() {
						want(a.Copy.From, literal("/"+p))
					}
				}
			}
		}
	}
	return wanted
}

func (a Action) dest() string {
	switch {
	case a.Copy != nil:
		return path.Clean(a.Copy.Dest)
	case a.Mkdir != nil:
		return a.Mkdir.Path
	}
	return a.Write.Path
}

// literal is the directory that all matches of a wildcard are below.
func literal(p string) string {
	if i := strings.IndexAny(p, `*?[\`); i >= 0 {
		p = path.Dir(p[:i] + "x")
	}
	return path.Clean(p)
}

// overlap reports whether p is above, below or at one of the paths.
func overlap(paths []string, p string) bool {
	return slices.ContainsFunc(paths, func(q string) bool { return below(p, q) || below(q, p) })
}

func below(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}
