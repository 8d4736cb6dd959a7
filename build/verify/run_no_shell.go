package verify

import (
	"path"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// runsWithoutShell are the RUNs in shell form on a tree that has no shell: none
// of them gets to the command that it names.
func (b *result) runsWithoutShell() []remark {
	var list []remark
	for _, op := range b.r.Ops {
		if op.Run == nil || len(op.Run.Args) == 0 || len(op.Ranges) == 0 {
			continue
		}
		ins := runAt(b.r.File, op.Ranges[0])
		shell := op.Run.Args[0]
		if ins == nil || !shellForm(ins) || !path.IsAbs(shell) || len(op.Run.Mounts) > 0 {
			continue
		}
		if !b.st.may(b.r, op.Run.Parent, shell) {
			list = append(list, remark{ins: ins, what: "the shell form starts " + shell + ", which is not there when it runs"})
		}
	}
	return list
}

// shellForm reports whether a RUN is a command line: no list of words, and no
// document, which may name its interpreter.
func shellForm(ins *dockerfile.Instruction) bool {
	for _, w := range words(ins.Text)[1:] {
		if !strings.HasPrefix(w, "--") {
			return !strings.HasPrefix(w, "[") && !strings.Contains(ins.Text, "<<")
		}
	}
	return false
}

// lacksShell reports whether an image surely has no shell at a path.
func (b *result) lacksShell(shell string) bool {
	is := b.executable(shell).is
	return is == absent || is == unknowable && path.IsAbs(shell) && !b.mounted(shell) && !b.st.may(b.r, b.r.Result, shell)
}
