package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// start is what a container of an image begins with, unless whoever starts it
// says otherwise.
type start struct {
	ins  *dockerfile.Instruction // the ENTRYPOINT, or the CMD where there is none
	argv []string
}

// program is the word that names what is started.
func (s start) program() string { return s.argv[0] }

// words are those that the instruction itself gives.
func (s start) words(b *result) []string {
	if s.ins.Keyword == "CMD" {
		return b.config.Cmd
	}
	return b.config.Entrypoint
}

// unexpanded reports whether the program is a variable in exec form.
func (s start) unexpanded() bool { return !s.ins.Shell && len(variables(s.program())) > 0 }

// start is known where an instruction of the file decides it. A CMD does if the
// base surely has no entrypoint, or the file has taken it away.
func (b *result) start() (start, bool) {
	entry, cmd := b.last("ENTRYPOINT"), b.last("CMD")
	s := start{entry, slices.Concat(b.config.Entrypoint, b.config.Cmd)}
	if len(b.config.Entrypoint) == 0 {
		if entry == nil && !b.asked() && (b.known == nil || b.known.starts) {
			return s, false
		}
		s.ins = cmd
	}
	return s, s.ins != nil && len(s.argv) > 0 && s.argv[0] != ""
}

// executable is where the program of a start is looked for.
type executable struct {
	found
	name  string   // its path before links are followed
	tried []string // the paths that were tried, where it is absent
}

// executable finds a program as the runtime does: by its path, below the working
// directory, or in PATH the first that has an execute bit.
func (b *result) executable(name string) executable {
	if strings.Contains(name, "/") {
		at := name
		if !path.IsAbs(name) {
			if !b.workdir(nil) {
				return executable{name: name}
			}
			at = path.Join("/", b.config.WorkingDir) + "/" + name
		}
		return b.at(at)
	}
	var tried []string
	var locked *executable // there, but not to be executed
	for _, dir := range b.search() {
		if !path.IsAbs(dir) {
			return executable{name: name}
		}
		e := b.at(dir + "/" + name)
		switch {
		case e.is == unknowable:
			return e
		case e.is == present && e.node.Mode.IsRegular():
			if e.node.Mode&0o111 != 0 {
				return e
			}
			if locked == nil {
				locked = &e
			}
		}
		tried = append(tried, path.Join(dir, name))
	}
	if locked != nil {
		return *locked
	}
	if tried == nil {
		return executable{name: name}
	}
	return executable{found: found{is: absent}, name: name, tried: tried}
}

func (b *result) at(p string) executable {
	e := executable{b.find(p), path.Clean(p), []string{path.Clean(p)}}
	if b.mounted(e.name) || b.mounted(e.path) {
		e.is = unknowable
	}
	return e
}

// search is PATH, as the image sets it.
func (b *result) search() []string {
	for _, env := range slices.Backward(b.config.Env) {
		if list, ok := strings.CutPrefix(env, "PATH="); ok {
			return strings.Split(list, ":")
		}
	}
	return nil
}

// maker is the instruction that gave a node of the image its mode and owner there:
// nil where the base did or that is not known.
func (b *result) maker(p site) *dockerfile.Instruction {
	g := &grower{result: b, worlds: map[int]*world{}}
	at := b.r.Result
	for at != dockerfile.Scratch {
		op := b.r.Ops[at]
		below := dockerfile.Scratch
		switch op.Kind {
		case dockerfile.KindFile:
			below = op.File.Parent
		case dockerfile.KindMerge:
			for _, in := range slices.Backward(op.Inputs) {
				if below = in; holds(g.world(in).tree, p) {
					break
				}
			}
			at = below
			continue
		default:
			return nil
		}
		if below == dockerfile.Scratch || !holds(g.world(below).tree, p) {
			return b.instruction(op)
		}
		at = below
	}
	return nil
}

// holds reports whether a tree has the node, with its mode and owner.
func holds(t rootfs.Tree, p site) bool {
	n, err := t.Lstat(p.path)
	return err == nil && n.Mode == p.node.Mode && n.UID == p.node.UID && n.GID == p.node.GID
}
