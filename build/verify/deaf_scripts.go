package verify

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/verify/shell"
)

// makers run what others wrote: nobody knows from here what they do.
var makers = regexp.MustCompile(`^(make|gmake|just|task|mage|bazel)$|\.sh$`)

// deafScripts are steps of FromSourceHostArch that run make or a script. What
// these do is unknown, but a step that is the same on every platform makes the
// same file for all, and a program that the image starts cannot be that.
func (s *state) deafScripts(told []Finding) []Finding {
	var list []Finding
	for _, group := range grouped(s.steps(), func(st *step) *dockerfile.Instruction { return st.ins }) {
		first := group[0]
		if len(told) > 0 || len(group) != len(s.judged()) || archCount(s.platforms()) < 2 || !golang(first.base) ||
			!s.pinned(first) || s.inFinalStage(first) || s.wrapsGo(first) || !makes(first) {
			continue
		}
		file := s.startedFrom(group)
		if file == "" || !sameEverywhere(group) {
			continue
		}
		f := s.at(first.r, first.ins)
		f.Platforms = s.platforms()
		f.Message = fmt.Sprintf("no platform argument reaches this RUN: %s get the same %s, %s", names(f.Platforms), file, s.forWhat(first))
		f.Fix = "ARG TARGETARCH\nENV GOARCH=${TARGETARCH}\n" + first.ins.Text
		list = append(list, f)
	}
	return list
}

// makes reports whether a step's last maker is among its commands, and nothing
// that compiles for itself to see.
func makes(st *step) bool {
	found := false
	for i := range st.calls {
		c := &st.calls[i]
		if verb, _ := goCommand(c); verb == "build" || verb == "install" || c.Hears["GOARCH"].Text != "" {
			return false
		}
		target := len(c.Args) > 1 && slices.ContainsFunc(c.Args[1:], func(a shell.Value) bool { return asksPlatform(a.Text) })
		if c.Cond || target {
			return false
		}
		found = found || makers.MatchString(c.Name())
	}
	return found
}

// startedFrom is the file of a step's tree that every platform's image starts,
// by the same path, where no COPY has brought it: "" where there is none.
func (s *state) startedFrom(group []*step) string {
	file := ""
	for i, st := range group {
		from := s.startedFile(st)
		if from == "" || i > 0 && from != file {
			return ""
		}
		file = from
	}
	return file
}

func (s *state) startedFile(st *step) string {
	program := starts(st.r)
	if !path.IsAbs(program) || document(program) {
		return ""
	}
	for at := st.r.Result; at != dockerfile.Scratch; at = under(st.r, at) {
		f := st.r.Ops[at].File
		if f == nil {
			continue
		}
		for _, a := range slices.Backward(f.Actions) {
			if a.Copy == nil || a.Copy.From == dockerfile.Scratch || wildcard(a.Copy.Src) || !slices.Contains(landing(a.Copy, path.Clean(a.Copy.Src)), program) {
				continue
			}
			source := path.Clean(a.Copy.Src)
			if on(st.r, a.Copy.From, st.op) && s.lastMaker(st, a.Copy.From) && !s.brought(st, source) {
				return source
			}
			return ""
		}
	}
	return ""
}

// lastMaker reports whether no later step of a tree compiles or makes.
func (s *state) lastMaker(st *step, tree int) bool {
	return !slices.ContainsFunc(s.steps(), func(o *step) bool {
		return o.r == st.r && o.op > st.op && on(o.r, tree, o.op) && compiles(o.r.Ops[o.op].Run)
	})
}

// brought reports whether a file may have come from the context, or from
// another image, rather than from the step.
func (s *state) brought(st *step, file string) bool {
	for at := st.op; at != dockerfile.Scratch; at = under(st.r, at) {
		f := st.r.Ops[at].File
		if f == nil {
			continue
		}
		for _, a := range f.Actions {
			if a.Copy == nil {
				continue
			}
			dest := path.Clean(a.Copy.Dest)
			rel, ok := below(dest, file)
			if !ok {
				continue
			}
			context := a.Copy.From != dockerfile.Scratch && st.r.Ops[a.Copy.From].Kind == dockerfile.KindContext
			if !context || s.files.exists(path.Join(strings.TrimPrefix(path.Clean(a.Copy.Src), "/"), rel)) || s.files.exists(path.Join(".", strings.TrimPrefix(path.Clean(a.Copy.Src), "/"))) && rel == "" {
				return true
			}
		}
	}
	return false
}
