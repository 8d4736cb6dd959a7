package verify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call reads a simple command: assignments alone, a builtin that changes the
// shell, a function, or a program.
func (sh *shell) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			if a.Name != nil {
				sh.set(a.Name.Value, sh.assigned(a), false)
			}
		}
		return
	}
	var args []value
	for _, w := range c.Args {
		args = append(args, sh.fields(w)...)
	}
	in := sh
	if len(c.Assigns) > 0 || sh.changes(args) {
		in = sh.branch()
	}
	for _, a := range c.Assigns {
		if a.Name != nil {
			in.set(a.Name.Value, sh.assigned(a), true)
		}
	}
	sh.start(in, args, len(redirs) > 0)
}

// changes reports whether a command may have to be followed in a shell of its
// own.
func (sh *shell) changes(args []value) bool {
	if len(args) == 0 {
		return false
	}
	name := path.Base(args[0].text)
	return slices.Contains(wrappers, name) || slices.Contains(shells, name) || sh.funcs[name] != nil
}

// start is a command with its arguments; in is the shell as it hears it.
func (sh *shell) start(in *shell, args []value, writes bool) {
	args = in.unwrap(args)
	if len(args) == 0 {
		return
	}
	one := call{args: args, dir: in.dir, cond: in.cond, maybe: in.maybe, writes: writes, hears: map[string]value{}}
	name := one.name()
	if body, ok := sh.funcs[name]; ok {
		*sh.plain = false
		sh.function(in, body)
		return
	}
	if sh.builtin(name, args[1:]) {
		return
	}
	if text, ok := shellArgument(args); ok {
		*sh.plain = false
		in.inner(text)
		return
	}
	for _, key := range heard {
		if v, ok := in.vars[key]; ok && v.exported {
			one.hears[key] = v.value
		} else if in.lost {
			one.hears[key] = unknownValue(key)
		}
	}
	*sh.calls = append(*sh.calls, one)
}

func (sh *shell) function(in *shell, body *syntax.Stmt) {
	if sh.depth >= mostDepth {
		sh.lost = true
		return
	}
	in.depth++
	in.stmt(body)
	in.depth--
	sh.join(in) // what it assigns stays
}

// inner follows the text of sh -c.
func (sh *shell) inner(text string) {
	s, ok := sh.scripts.parse(text)
	if !ok || sh.nested >= mostDepth {
		return
	}
	sh.script = s
	sh.nested++
	sh.list(s.file.Stmts)
}

// shellArgument is the text that a shell is started with.
func shellArgument(args []value) (string, bool) {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
	}
	text, ok := shellText(texts)
	return text, ok && !slices.ContainsFunc(args, func(a value) bool { return a.open })
}

// builtin is what changes the shell itself, and what only seems to do something.
func (sh *shell) builtin(name string, args []value) bool {
	switch name {
	case "cd":
		sh.dir = sh.cd(args)
		return true
	case "pushd", "popd":
		sh.dir = unknownValue()
	case "unset":
		for _, a := range args {
			delete(sh.vars, a.text)
		}
	case "set":
		for _, a := range args {
			sh.all = sh.all || a.text == "allexport" || strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "a")
		}
		return true
	case ".", "source", "eval", "alias":
		sh.lost = true
		clear(sh.vars)
	case "read", "getopts", "mapfile", "readarray":
		for _, a := range args {
			sh.set(a.text, unknownValue(), false)
		}
	case ":", "true":
		return true
	}
	return false
}

func (sh *shell) cd(args []value) value {
	args = slices.DeleteFunc(slices.Clone(args), func(a value) bool { return strings.HasPrefix(a.text, "-") && a.text != "-" })
	if len(args) != 1 || args[0].open || args[0].text == "-" || strings.HasPrefix(args[0].text, "~") {
		return unknownValue()
	}
	if path.IsAbs(args[0].text) {
		return literal(path.Clean(args[0].text))
	}
	if sh.dir.open {
		return sh.dir
	}
	return literal(path.Join(sh.dir.text, args[0].text))
}

// wrappers start the program that follows their own flags.
var wrappers = []string{"env", "exec", "command", "nice", "nohup", "sudo", "time", "busybox", "builtin"}

// unwrap removes what starts a program in another way, and sets for it what env
// sets.
func (sh *shell) unwrap(args []value) []value {
	for len(args) > 0 && !args[0].open && slices.Contains(wrappers, path.Base(args[0].text)) {
		env := path.Base(args[0].text) == "env" || path.Base(args[0].text) == "sudo"
		args = args[1:]
	flags:
		for len(args) > 0 {
			switch key, text, ok := strings.Cut(args[0].text, "="); {
			case env && ok && syntax.ValidName(key):
				sh.set(key, value{text: text, open: args[0].open, vars: args[0].vars, pos: args[0].pos}, true)
			case args[0].text == "-i" && env || args[0].text == "-":
				clear(sh.vars)
			case args[0].text == "-u" && env && len(args) > 1:
				delete(sh.vars, args[1].text)
				args = args[1:]
			case !strings.HasPrefix(args[0].text, "-"):
				break flags
			}
			args = args[1:]
		}
	}
	return args
}
