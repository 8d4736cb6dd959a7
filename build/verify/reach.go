package verify

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// landing lists where a copy may put a file of its source tree; nil where it
// does not take it. A destination without a trailing slash may be a directory
// of the base, so for one file it is two places.
func landing(c *dockerfile.Copy, file string) []string {
	dest := path.Clean(c.Dest)
	if len(c.Include) > 0 {
		rel, ok := below(path.Clean(c.Src), file)
		if !ok || !slices.ContainsFunc(c.Include, func(p string) bool { return takes(path.Clean(p), rel) }) || excluded(c, rel) {
			return nil
		}
		return []string{path.Join(dest, rel)}
	}
	root, rel, ok := source(c, file)
	switch {
	case !ok || rel != "" && excluded(c, rel):
		return nil
	case rel != "" && c.DirContents:
		return []string{path.Join(dest, rel)}
	case rel != "":
		return []string{path.Join(dest, path.Base(root), rel)}
	case strings.HasSuffix(c.Dest, "/") || strings.HasSuffix(c.Dest, "/."):
		return []string{path.Join(dest, path.Base(file))}
	}
	return []string{dest, path.Join(dest, path.Base(file))}
}

// source is what of the file's path a copy names, and the rest below it. Of a
// pattern the highest match counts: matches are not searched for more.
func source(c *dockerfile.Copy, file string) (root, rel string, ok bool) {
	src := path.Clean(c.Src)
	for at := file; ; at = path.Dir(at) {
		match := at == src
		if c.Wildcard && !match && at != "/" { // the root itself is no match
			match, _ = path.Match(src, at)
		}
		if match {
			root, ok = at, true
		}
		if at == "/" || at == "." {
			break
		}
	}
	rel, _ = below(root, file)
	return root, rel, ok
}

// below is the rest of file below dir, "" where both are one.
func below(dir, file string) (rel string, ok bool) {
	if file == dir {
		return "", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/")
}

// takes reports whether a source, cleaned and relative, takes a file: by name,
// by wildcard, or with the directory it is in.
func takes(source, file string) bool {
	if _, ok := below(source, file); ok || source == "." || source == "/" {
		return true
	}
	if !wildcard(source) {
		return false
	}
	for p := file; p != "." && p != "/"; p = path.Dir(p) {
		if ok, _ := path.Match(source, p); ok {
			return true
		}
	}
	return false
}

func excluded(c *dockerfile.Copy, rel string) bool { return drops(matcher(c.Exclude), rel) }

// reaches reports whether a file at one of the paths in an operation's tree is
// in the image. It goes along with COPY --from, and stays where it is through a
// RUN that keeps approves of.
func reaches(r *dockerfile.Recipe, op int, at []string, keeps func(*dockerfile.Run) bool) bool {
	if r.Result == dockerfile.Scratch || len(at) == 0 {
		return false
	}
	have := make([][]string, len(r.Ops))
	have[op] = at
	get := func(i int) []string {
		if i == dockerfile.Scratch {
			return nil
		}
		return have[i]
	}
	for i := op + 1; i < len(r.Ops); i++ {
		next := slices.Clone(have[i])
		switch o := r.Ops[i]; {
		case o.File != nil:
			next = append(next, get(o.File.Parent)...)
			for _, a := range o.File.Actions {
				for _, p := range copied(a, get) {
					next = append(next, landing(a.Copy, p)...)
				}
			}
		case o.Kind == dockerfile.KindMerge:
			for _, in := range o.Inputs {
				next = append(next, get(in)...)
			}
		case o.Run != nil && keeps(o.Run):
			next = append(next, get(o.Run.Parent)...)
		}
		slices.Sort(next)
		have[i] = slices.Compact(next)
	}
	return len(have[r.Result]) > 0
}

// connected reports whether anything that an operation has done can be in the
// image, whatever its path: the quick form of reaches.
func connected(r *dockerfile.Recipe, op int, keeps func(*dockerfile.Run) bool) bool {
	have := make([]bool, len(r.Ops))
	for i := op; i < len(r.Ops); i++ {
		o := r.Ops[i]
		have[i] = i == op || (o.Run == nil || keeps(o.Run)) &&
			slices.ContainsFunc(o.Inputs, func(in int) bool { return have[in] })
	}
	return r.Result != dockerfile.Scratch && have[r.Result]
}

func copied(a dockerfile.Action, get func(int) []string) []string {
	if a.Copy == nil {
		return nil
	}
	return get(a.Copy.From)
}

// always is for files that somebody named: a RUN is not expected to replace
// them.
func always(*dockerfile.Run) bool { return true }

// builder finds what may be a compiler, or a script that runs one.
var builder = regexp.MustCompile(`\b(go|make|cmake|ninja|meson|gcc|g\+\+|cc|clang|cargo|rustc|zig|bazel|mage|task|just|build|npm|yarn|pnpm|mvn|gradle|dotnet)\b|\.sh\b|(^|[\s;&|])\./`)

// compiles is whether a RUN may replace what a whole source tree brought along
// by what it makes of that tree.
func compiles(r *dockerfile.Run) bool { return builder.MatchString(strings.Join(r.Args, " ")) }

func unlessCompiled(r *dockerfile.Run) bool { return !compiles(r) }
