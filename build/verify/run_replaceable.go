package verify

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// runReplaceable is RunReplaceable: where every RUN below the image is one of
// its kind, since one that has to stay needs the engine anyway; and in other
// stages, where that is so of all that the image needs.
func runReplaceable(s *state) []Finding {
	var found []errand
	for _, r := range s.judged() {
		found = append(found, s.errands(r)...)
	}
	var list []Finding
	for _, group := range grouped(found, func(e errand) *dockerfile.Instruction { return e.ins }) {
		e := group[0]
		if len(group) != len(s.judged()) {
			continue // on some platform it does more
		}
		f := s.at(e.r, e.ins)
		f.Platforms = s.platforms()
		f.Message = "this RUN only " + and(e.does()) + ": " + e.gain()
		f.Fix = strings.Join(s.withoutRun(e), "\n")
		list = append(list, f)
	}
	return list
}

// errands are the RUNs of the tree that the image is, none where one of them
// does something else; and those of other stages, if no RUN at all has to stay.
func (s *state) errands(r *dockerfile.Recipe) []errand {
	var own, others []errand
	left := map[int]bool{} // RUNs that are no errand
	for i, op := range r.Ops {
		if op.Run != nil {
			left[i] = true
		}
	}
	for _, st := range s.steps() {
		if st.r != r {
			continue
		}
		e, ok := s.errand(st)
		final := s.inFinalStage(st)
		switch {
		case !ok || final && s.pinned(st):
			continue
		case final:
			own = append(own, e)
		default:
			others = append(others, e)
		}
		delete(left, st.op)
	}
	for at := r.Result; at != dockerfile.Scratch; at = under(r, at) {
		if left[at] {
			return nil
		}
	}
	if len(left) > 0 {
		return own
	}
	for i := range own {
		own[i].all = true
	}
	for i := range others {
		others[i].all = true
	}
	return append(own, others...)
}

// gain says what is won without the RUN.
func (e errand) gain() string {
	if !e.all {
		return "it runs under emulation on every platform but the machine's own"
	}
	return "without such a RUN the image needs no engine and no emulation"
}

// withoutRun are the instructions that do the same, each where it says.
func (s *state) withoutRun(e errand) []string {
	var lines []string
	if e.certificates {
		lines = append(lines, "COPY --from=gcr.io/distroless/static /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/")
	}
	owner := ""
	if e.user {
		owner = e.number()
	}
	for _, c := range e.chown {
		if e.makes(c.file) || e.made(c.file) {
			owner = e.owner(c)
		}
		if !e.makes(c.file) && e.made(c.file) {
			lines = append(lines, "USER "+owner+" above WORKDIR "+c.file)
		}
	}
	final := e.r.Result != dockerfile.Scratch && on(e.r, e.r.Result, e.op)
	switch {
	case owner != "" && (final || len(e.dirs) > 0):
		lines = append(lines, "USER "+owner) // what WORKDIR makes is theirs
	case owner != "":
		lines = append(lines, "USER "+owner+" in the image instead of a name from here")
	}
	for _, d := range e.dirs {
		lines = append(lines, "WORKDIR "+d)
	}
	if n := len(e.dirs); n > 0 && e.dirs[n-1] != e.dir {
		lines = append(lines, "WORKDIR "+e.dir)
	}
	return append(lines, s.copiesAgain(e)...)
}

// copiesAgain are the COPYs with the flags that change what they bring.
func (s *state) copiesAgain(e errand) []string {
	var order []*dockerfile.Instruction
	flags := map[*dockerfile.Instruction][]string{}
	add := func(file, flag string) {
		for _, ins := range s.broughtBy(e, file) {
			if !slices.Contains(order, ins) {
				order = append(order, ins)
			}
			if !slices.Contains(flags[ins], flag) {
				flags[ins] = append(flags[ins], flag)
			}
		}
	}
	for _, c := range e.chmod {
		add(c.file, "--chmod="+numericMode(c.to))
	}
	for _, c := range e.chown {
		add(c.file, "--chown="+e.owner(c))
	}
	var lines []string
	for _, ins := range order {
		old := strings.Join(words(ins.Text), " ")
		if strings.Contains(ins.Text, "<<") {
			old = "COPY of the document"
		}
		_, rest, _ := strings.Cut(old, " ")
		lines = append(lines, ins.Keyword+" "+strings.Join(flags[ins], " ")+" "+rest+" instead of "+old)
	}
	return lines
}

// numericMode is a mode that needs no look at the file.
func numericMode(mode string) string {
	switch mode {
	case "755", "+x", "a+x", "+rx", "a+rx", "u+x", "ugo+x":
		return "0755"
	}
	return mode
}

// broughtBy are the COPYs and ADDs below a step that put a file, or what is in
// a directory, where it is.
func (s *state) broughtBy(e errand, file string) []*dockerfile.Instruction {
	var list []*dockerfile.Instruction
	for at := under(e.r, e.op); at != dockerfile.Scratch; at = under(e.r, at) {
		op := e.r.Ops[at]
		if op.Kind == dockerfile.KindMerge && len(op.Inputs) > 1 {
			op = e.r.Ops[op.Inputs[1]]
		}
		if op.File == nil || len(op.Ranges) == 0 {
			continue
		}
		for i, a := range op.File.Actions {
			if a.Copy == nil || !lands(a.Copy, file) {
				continue
			}
			if ins := instruction(e.r.File, op.Ranges[0], i); ins != nil && !ins.OnBuild && !slices.Contains(list, ins) {
				list = append(list, ins)
			}
		}
	}
	return list
}

// lands reports whether a copy puts a file at a path, or below it.
func lands(c *dockerfile.Copy, file string) bool {
	for _, at := range append(landing(c, path.Clean(c.Src)), path.Clean(c.Dest)) {
		if _, ok := below(file, at); ok {
			return true
		}
	}
	if ok, _ := path.Match(path.Join(c.Dest, path.Base(c.Src)), file); ok {
		return true
	}
	_, inside := below(path.Clean(c.Dest), file)
	return inside && c.DirContents && path.Clean(c.Dest) != "/"
}

// does says what a step is for.
func (e errand) does() []string {
	var list []string
	for _, d := range []struct {
		it   bool
		text string
	}{
		{e.certificates, "installs CA certificates"},
		{e.user, "adds a user"},
		{e.group && !e.user, "adds a group"},
		{len(e.dirs) > 0, "makes directories"},
		{len(e.chmod) > 0, "changes modes"},
		{len(e.chown) > 0, "changes owners"},
	} {
		if d.it {
			list = append(list, d.text)
		}
	}
	return list
}

// owner is the owner that a file gets: as numbers where the step makes the user.
func (e errand) owner(c change) string {
	if e.user && strings.Trim(c.to, "0123456789:") != "" {
		return e.number()
	}
	return c.to
}

// number is the user as numbers: those that the step gives it, or the usual
// ones.
func (e errand) number() string {
	if e.uid == "" {
		return "65532:65532"
	}
	if e.gid == "" {
		return fmt.Sprintf("%s:%s", e.uid, e.uid)
	}
	return e.uid + ":" + e.gid
}
