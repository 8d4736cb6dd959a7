package verify

import (
	"cmp"
	"path"
	"slices"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// state is one image while it is judged.
type state struct {
	Subject
	files files
	bin   binaries
	takes []*take
	runs  steps // read when a rule first asks

	elsewhere []*take   // of a context that goreleaser makes: what is in it cannot be known
	foreign   bool      // another tool makes the build context
	read      *sources  // the build context; nil makes the rules on file trees silent
	trees     []*result // of judged, once asked for

	contexts []string // of all images that are judged, cleaned

	origins map[*dockerfile.Recipe]origin // answers of started
}

// take is one source that one platform copies from the build context.
type take struct {
	r      *dockerfile.Recipe
	ins    *dockerfile.Instruction
	source int    // index into ins.Sources
	path   string // cleaned, relative to the context, variables expanded, wildcards kept
	op     int
	copy   *dockerfile.Copy
	ignore ignore

	claimed bool // some rule has reported it, or knows that it follows from what it reported
}

func newState(s Subject, bin binaries) *state {
	st := &state{Subject: s, files: newFiles(s), bin: bin}
	st.foreign = st.foreignContext()
	var drop ignore
	for i, r := range st.judged() {
		if i == 0 || !slices.Equal(r.Ignore.Patterns, drop.Patterns) { // no two platforms differ, and a matcher is many expressions
			drop = newIgnore(r.Ignore)
		}
		for _, t := range takesOf(r, drop) {
			if !st.foreign || st.bin.contains(t.path) {
				st.takes = append(st.takes, t)
			} else {
				st.elsewhere = append(st.elsewhere, t)
			}
		}
	}
	return st
}

// among tells an image which others there are.
func (s *state) among(subjects []Subject) *state {
	for _, o := range subjects {
		s.contexts = append(s.contexts, path.Clean(o.Context))
	}
	return s
}

// takesOf lists what a recipe copies. A RUN --mount leaves nothing in the image.
func takesOf(r *dockerfile.Recipe, drop ignore) []*take {
	var list []*take
	for _, c := range r.ContextCopies() {
		if c.Action < 0 {
			continue
		}
		copy := r.Ops[c.Op].File.Actions[c.Action].Copy
		ins := instructionOf(r.File, c.Range, c.Action, copy)
		if ins == nil {
			continue
		}
		for _, p := range c.Paths {
			list = append(list, &take{
				r: r, ins: ins, source: c.Action, path: p, op: c.Op, copy: copy, ignore: drop,
			})
		}
	}
	return list
}

// instruction is the COPY or ADD that stands there. Its sources are the first
// actions of its operation, in their order; heredocs come after them.
func instruction(f *dockerfile.File, at dockerfile.Range, action int) *dockerfile.Instruction {
	return instructionOf(f, at, action, nil)
}

// instructionOf is instruction for what is done: of several triggers, which all
// stand on one FROM, it is the one that may mean that.
func instructionOf(f *dockerfile.File, at dockerfile.Range, action int, does *dockerfile.Copy) *dockerfile.Instruction {
	var first *dockerfile.Instruction
	for i := range f.Stages {
		for k := range f.Stages[i].Instructions {
			ins := &f.Stages[i].Instructions[k]
			if !copies(ins) || ins.Range.Start.Line != at.Start.Line || action >= len(ins.Sources) {
				continue
			}
			if !ins.OnBuild || means(ins, action, does) {
				return ins
			}
			first = cmp.Or(first, ins)
		}
	}
	return first
}

func copies(ins *dockerfile.Instruction) bool { return ins.Keyword == "COPY" || ins.Keyword == "ADD" }

// written is the source as the Dockerfile spells it.
func (t *take) written() string { return t.ins.Sources[t.source] }

// whole is a COPY of everything: it names no file.
func (t *take) whole() bool { return t.path == "." }

// puts reports whether the file, relative to the context, is in the image by
// this copy.
func (t *take) puts(file string, keeps func(*dockerfile.Run) bool) bool {
	return reaches(t.r, t.op, landing(t.copy, "/"+file), keeps)
}

// inImage is puts for what the source itself names. What is in a directory that
// is not there cannot be followed, so the directory's place decides.
func (s *state) inImage(t *take) bool {
	if wildcard(t.path) || s.dir(t) {
		return t.r.ReachesResult(t.op)
	}
	return t.puts(t.path, always)
}

// dir reports whether a source is a directory, or meant as one.
func (s *state) dir(t *take) bool {
	written := t.written()
	return s.files.isDir(t.path) || written[len(written)-1] == '/'
}

// platforms are those of the image, in order.
func (s *state) platforms() []platform.Platform {
	var list []platform.Platform
	for _, r := range s.judged() {
		list = append(list, r.Platform)
	}
	return list
}

// judged are the recipes that there are.
func (s *state) judged() []*dockerfile.Recipe {
	var list []*dockerfile.Recipe
	for _, r := range s.Recipes {
		if r != nil && r.File != nil {
			list = append(list, r)
		}
	}
	return list
}
