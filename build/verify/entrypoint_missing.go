package verify

import (
	"io"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/rootfs"
)

// entrypointMissing finds programs that are surely not where the image starts
// them, and scripts whose interpreter is not.
var entrypointMissing = perImage(func(b *result) []remark {
	s, ok := b.start()
	if !ok || s.ins.Shell || s.unexpanded() {
		return nil
	}
	e := b.executable(s.program())
	switch {
	case e.is == present:
		return b.interpreter(s, e)
	case e.is != absent || b.data(s):
		return nil
	}
	m := remark{ins: s.ins, what: e.gone(s.program())}
	if slices.Contains(shellNames, path.Base(s.program())) {
		if len(s.argv) == 3 && s.argv[1] == "-c" && len(s.words(b)) == 3 {
			m.fix = formOf(s.ins, split(s.argv[2]))
		}
		return []remark{m}
	}
	if is := b.instead(s.program()); is.node != nil && !slices.Contains(s.argv, is.path) {
		m.what += ", but " + is.path + " is"
		m.fix = b.meeting(s, e.name, is)
	}
	return []remark{m}
})

// data reports whether an image is surely not meant to be started: there is
// nothing in it to start, and its CMD is there since docker create wants one.
func (b *result) data(s start) bool {
	programs := len(b.tree.veils) > 0 || s.ins.Keyword != "CMD" || b.tree.ground != (ground{})
	b.tree.files(func(f site) bool {
		programs = programs || f.node.Mode&0o111 != 0
		return !programs
	})
	return !programs
}

// gone says where a program is not.
func (e executable) gone(name string) string {
	switch {
	case len(e.tried) > 1 || !strings.Contains(name, "/"):
		return name + " is in no directory of PATH (" + strings.Join(dirs(e.tried), ", ") + ")"
	case e.path != e.name && !atOrBelow(e.name, e.path):
		return e.name + " leads to " + e.path + ", which is not in the image"
	}
	return e.name + " is not in the image"
}

func dirs(files []string) []string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = path.Dir(f)
	}
	return list
}

// instead is a file of the image that may be meant by a program: one of the same
// name, or the only one that can be executed.
func (b *result) instead(program string) site {
	var named, only site
	programs := 0
	b.tree.files(func(f site) bool {
		if f.node.Mode&0o111 != 0 {
			only, programs = f, programs+1
			if named.node == nil && path.Base(f.path) == path.Base(program) {
				named = f
			}
		}
		return true
	})
	switch {
	case named.node != nil:
		return named
	case programs == 1:
		return only
	}
	return site{}
}

// meeting brings a program and the instruction that starts it together: that
// names the path where the program is, or its COPY the one where it is expected,
// if the platforms have it under different names.
func (b *result) meeting(s start, name string, is site) string {
	if len(named(is.path)) == 0 {
		return execForm(s.ins.Keyword, append([]string{is.path}, s.words(b)[1:]...))
	}
	ins := b.maker(is)
	if ins == nil || !copies(ins) || len(named(name)) > 0 || !path.IsAbs(name) {
		return ""
	}
	text, _ := single(ins)
	if before, ok := strings.CutSuffix(text, ins.Dest); ok {
		return before + name
	}
	return ""
}

// interpreter finds a script whose first line names what is not there.
func (b *result) interpreter(s start, e executable) []remark {
	line := firstLine(e.node)
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return nil
	}
	m := remark{ins: s.ins, what: e.name + " is a script for " + words[0] + ", which is not in the image"}
	switch {
	case strings.HasSuffix(line, "\r") && len(words) == 1:
		m.what = e.name + " is a script whose first line ends in a carriage return, which becomes part of the name " + words[0]
		m.fix = "line feeds instead of carriage returns in the script"
	case !path.IsAbs(words[0]) || b.at(words[0]).is != absent:
		return nil
	}
	return []remark{m}
}

// firstLine is the beginning of a file of the context, "" where it is not known.
func firstLine(n *rootfs.Node) string {
	if !n.Mode.IsRegular() || n.Data == nil {
		return ""
	}
	r, err := n.Data.Open()
	if err != nil {
		return ""
	}
	defer func() { _ = r.Close() }()
	head := make([]byte, 256) // the kernel reads no more
	k, _ := io.ReadFull(r, head)
	line, _, _ := strings.Cut(string(head[:k]), "\n")
	return line
}
