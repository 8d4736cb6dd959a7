package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// origin is a file of the build context that an image starts, and how it gets
// there.
type origin struct {
	op, source int    // the COPY that takes it from the context
	file       string // relative to the context
	byName     bool   // the COPY names the file, not a directory
	runs       []*dockerfile.Run
}

// started is the program of an image where it comes from the build context.
func (s *state) started(r *dockerfile.Recipe) (origin, bool) {
	if from, ok := s.origins[r]; ok {
		return from, from.file != ""
	}
	var from origin
	for _, p := range programPaths(r) {
		if from = s.choose(s.trace(r, r.Result, p, nil)); from.file != "" {
			break
		}
	}
	if s.origins == nil {
		s.origins = map[*dockerfile.Recipe]origin{}
	}
	s.origins[r] = from
	return from, from.file != ""
}

// takesStart reports whether a source holds the program that its image starts.
func (s *state) takesStart(t *take) (origin, bool) {
	from, ok := s.started(t.r)
	return from, ok && from.op == t.op && from.source == t.source
}

// choose is the candidate that surely is the file: one that is named or exists,
// or the only directory that it may be in.
func (s *state) choose(list []origin) origin {
	for _, from := range list {
		if from.byName || s.files.exists(from.file) {
			return from
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return origin{}
}

// trace follows a path in an operation's tree back to the context; the latest
// copy comes first. What a base has is not followed.
func (s *state) trace(r *dockerfile.Recipe, op int, p string, runs []*dockerfile.Run) []origin {
	if op == dockerfile.Scratch {
		return nil
	}
	switch o := r.Ops[op]; {
	case o.Run != nil:
		return s.trace(r, o.Run.Parent, p, append(slices.Clip(runs), o.Run))
	case o.Kind == dockerfile.KindMerge:
		var list []origin
		for _, in := range slices.Backward(o.Inputs) {
			list = append(list, s.trace(r, in, p, runs)...)
		}
		return list
	case o.File != nil:
		var list []origin
		for k, a := range slices.Backward(o.File.Actions) {
			if a.Copy == nil {
				continue
			}
			from := a.Copy.From
			context := from != dockerfile.Scratch && r.Ops[from].Kind == dockerfile.KindContext
			for _, q := range s.sources(a.Copy, p, context) {
				if !context {
					list = append(list, s.trace(r, from, q, runs)...)
					continue
				}
				file := strings.TrimPrefix(q, "/")
				list = append(list, origin{op: op, source: k, file: file, byName: path.Clean(a.Copy.Src) == q, runs: runs})
			}
		}
		return append(list, s.trace(r, o.File.Parent, p, runs)...)
	}
	return nil
}

// sources lists what of its source a copy may have put at a path: the file that
// it names, or the one of that name in a directory that it names.
func (s *state) sources(c *dockerfile.Copy, p string, context bool) []string {
	src := path.Clean(c.Src)
	rel, ok := below(path.Clean(c.Dest), p)
	if !ok {
		return nil
	}
	var list []string
	inside := path.Join(src, rel)
	switch {
	case len(c.Include) > 0:
		list = []string{inside}
	case c.Wildcard && wildcard(src):
		list = []string{path.Join(path.Dir(src), rel)}
	case rel == "" || rel == path.Base(src) && !(context && s.files.isDir(inside[1:])):
		list = []string{src}
	case !context || s.files.isDir(src[1:]) || src == "/":
		list = []string{inside}
	}
	return slices.DeleteFunc(list, func(q string) bool { return !slices.Contains(landing(c, q), p) })
}

// programPaths lists where the runtime looks for the program of an image; on
// many systems two directories of programs are one.
func programPaths(r *dockerfile.Recipe) []string {
	c := configOf(r)
	argv := slices.Concat(c.Entrypoint, c.Cmd)
	if len(argv) == 0 {
		return nil
	}
	name := argv[0]
	if len(argv) > 2 && argv[1] == "-c" && slices.Contains(shellNames, path.Base(name)) {
		words := split(argv[2])
		if words == nil {
			return nil
		}
		name = words[0]
	}
	var list []string
	switch {
	case path.IsAbs(name):
		list = []string{path.Clean(name)}
	case strings.Contains(name, "/"):
		list = []string{path.Join("/", c.WorkingDir, name)}
	default:
		for _, env := range c.Env {
			if dirs, ok := strings.CutPrefix(env, "PATH="); ok {
				for _, dir := range strings.Split(dirs, ":") {
					list = append(list, path.Join(dir, name))
				}
			}
		}
	}
	for _, p := range slices.Clone(list) {
		if rest, ok := strings.CutPrefix(p, "/usr"); ok && slices.Contains(programDirs, path.Dir(rest)) {
			list = append(list, rest)
		} else if slices.Contains(programDirs, path.Dir(p)) {
			list = append(list, "/usr"+p)
		}
	}
	return list
}
