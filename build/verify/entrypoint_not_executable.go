package verify

import (
	"path"
)

// entrypointNotExecutable finds programs that are there, but which the image's
// user surely cannot start.
var entrypointNotExecutable = perImage(func(b *result) []remark {
	s, ok := b.start()
	if !ok || s.ins.Shell || s.unexpanded() {
		return nil
	}
	e := b.executable(s.program())
	if e.is != present {
		return nil
	}
	if e.node.IsDir() {
		m := remark{ins: s.ins, what: e.name + " is a directory"}
		if is := b.instead(s.program()); is.node != nil && atOrBelow(is.path, e.path) {
			m.what += ", which " + path.Base(is.path) + " lies in"
			m.fix = b.meeting(s, e.name, is)
		}
		return []remark{m}
	}
	u := b.user()
	for _, dir := range e.way {
		if b.tree.sure(dir.path) && u.may(dir.node, 1) == denied {
			return []remark{b.locked(s, dir, u.cannot()+" enter "+dir.path+", which has mode "+octal(dir.node.Mode)+", to start "+e.name)}
		}
	}
	if e.node.Mode.IsRegular() && u.may(e.node, 1) == denied {
		return []remark{b.locked(s, e.site, u.cannot()+" execute "+e.path+", which has mode "+octal(e.node.Mode))}
	}
	return nil
})

// locked stands on the instruction that gave a file or directory its mode, or on
// the one that starts it.
func (b *result) locked(s start, at site, what string) remark {
	if ins := b.maker(at); ins != nil && copies(ins) {
		return remark{ins: ins, what: what, fix: withFlag(ins, "chmod", "0755")}
	}
	return remark{ins: s.ins, what: what}
}
