package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/verify/shell"
)

// delivered lists those of the files that a compile writes which are in the
// image, whatever they are called there.
func (s *state) delivered(c compilation) []string {
	files, ok := s.outputs(c)
	if !ok {
		return nil
	}
	var list []string
	for _, file := range files {
		for _, one := range instances(c.r, file) {
			switch byName := copiedByName(c.r, one); {
			case byName:
			case strings.HasPrefix(one, files[0]+"/"):
				continue // -o names a file, as far as can be seen
			case len(named(one)) > 0 || s.executed(c, one):
				continue // in a directory of programs for many, or left over from the build
			}
			if !slices.Contains(list, one) && !s.writtenAgain(c, one) && reaches(c.r, c.op, s.moved(c.step, one), always) {
				list = append(list, one)
			}
		}
	}
	return list
}

// instances are a file whose name is not known, and the names that some copy
// gives it.
func instances(r *dockerfile.Recipe, file string) []string {
	list := []string{file}
	if !strings.Contains(file, "*") {
		return list
	}
	for _, op := range r.Ops {
		if op.File == nil {
			continue
		}
		for _, a := range op.File.Actions {
			if a.Copy == nil || a.Copy.Wildcard && wildcard(a.Copy.Src) {
				continue
			}
			if ok, _ := path.Match(file, path.Clean(a.Copy.Src)); ok && !slices.Contains(list, path.Clean(a.Copy.Src)) {
				list = append(list, path.Clean(a.Copy.Src))
			}
		}
	}
	return list
}

// copiedByName reports whether some copy takes just this file.
func copiedByName(r *dockerfile.Recipe, file string) bool {
	for _, op := range r.Ops {
		if op.File != nil && slices.ContainsFunc(op.File.Actions, func(a dockerfile.Action) bool {
			return a.Copy != nil && path.Clean(a.Copy.Src) == file
		}) {
			return true
		}
	}
	return false
}

// executed reports whether the build itself starts a file that it has compiled.
func (s *state) executed(c compilation, file string) bool {
	return s.later(c, func(o *shell.Call) bool {
		if len(o.Args) == 0 || o.Args[0].Open {
			return false
		}
		program := o.Args[0].Text
		at := o.Dir.Path(program)
		return strings.Contains(program, "/") && at.Text == file && !at.Open || c.verb == "install" && program == path.Base(file)
	})
}

// writtenAgain reports whether a later command compiles to the same file.
func (s *state) writtenAgain(c compilation, file string) bool {
	return s.later(c, func(o *shell.Call) bool {
		verb, args := goCommand(o)
		if verb != "build" && verb != "install" {
			return false
		}
		files, _ := s.outputs(compilation{step: c.step, call: o, verb: verb, args: args})
		return slices.Contains(files, file) && o != c.call
	})
}

// later asks the commands that come after a compilation in its tree.
func (s *state) later(c compilation, is func(*shell.Call) bool) bool {
	for _, o := range s.steps() {
		if o.r != c.r || o.op < c.op || !on(o.r, o.op, c.op) {
			continue
		}
		after := o.op != c.op
		for i := range o.calls {
			if after && is(&o.calls[i]) {
				return true
			}
			after = after || &o.calls[i] == c.call
		}
	}
	return false
}

// moved is a file and the places where the step, and those on top of it, put it
// with cp and the like.
func (s *state) moved(st *step, file string) []string {
	list := []string{file}
	for _, o := range s.steps() {
		if o.r != st.r || o.op < st.op || !on(o.r, o.op, st.op) {
			continue
		}
		for i := range o.calls {
			list = append(list, carried(&o.calls[i], list)...)
		}
	}
	return list
}

// carried are the places that a cp, mv, install or ln puts files of a list at.
func carried(c *shell.Call, files []string) []string {
	if !slices.Contains([]string{"cp", "mv", "install", "ln", "rsync"}, c.Name()) {
		return nil
	}
	var operands []string
	for _, a := range c.Args[1:] {
		if strings.HasPrefix(a.Text, "-") {
			continue
		}
		if at := c.Dir.Path(a.Text); !at.Open {
			operands = append(operands, at.Text)
		}
	}
	if len(operands) < 2 {
		return nil
	}
	dest := operands[len(operands)-1]
	var list []string
	for _, source := range operands[:len(operands)-1] {
		for _, file := range files {
			if ok, _ := path.Match(source, file); ok || source == file {
				list = append(list, dest, path.Join(dest, path.Base(file)))
			} else if rel, ok := below(source, file); ok {
				list = append(list, path.Join(dest, rel), path.Join(dest, path.Base(source), rel))
			}
		}
	}
	return list
}
