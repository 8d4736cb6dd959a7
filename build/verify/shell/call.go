package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Call is a command that a text starts, as far as that can be told.
type Call struct {
	Args   []Value          // the program first, without env, sudo and the like; at least one
	Hears  map[string]Value // what is exported of the variables in Scripts.Hears
	Dir    Value            // working directory
	Cond   bool             // what decides whether it runs may be the platform
	Maybe  bool             // a branch that need not be taken, for whatever reason
	Writes bool             // it has redirections
}

// Name is the program without directories; "" where it is unknown.
func (c *Call) Name() string {
	if len(c.Args) == 0 || c.Args[0].Open {
		return ""
	}
	return path.Base(c.Args[0].Text)
}

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
	var args []Value
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
func (sh *shell) changes(args []Value) bool {
	if len(args) == 0 {
		return false
	}
	name := path.Base(args[0].Text)
	return slices.Contains(wrappers, name) || slices.Contains(shells, name) || sh.funcs[name] != nil
}

// start is a command with its arguments; in is the shell as it hears it.
func (sh *shell) start(in *shell, args []Value, writes bool) {
	args = in.unwrap(args)
	if len(args) == 0 {
		return
	}
	one := Call{Args: args, Dir: in.dir, Cond: in.cond, Maybe: in.maybe, Writes: writes, Hears: map[string]Value{}}
	name := one.Name()
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
	for _, key := range sh.scripts.Hears {
		if v, ok := in.vars[key]; ok && v.exported {
			one.Hears[key] = v.Value
		} else if in.lost {
			one.Hears[key] = Unknown(key)
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
	sh.parsed = s
	sh.nested++
	sh.list(s.file.Stmts)
}

// shellArgument is the text that a shell is started with.
func shellArgument(args []Value) (string, bool) {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.Text
	}
	text, ok := shellText(texts)
	return text, ok && !slices.ContainsFunc(args, func(a Value) bool { return a.Open })
}

// readers set the variables that they are given the names of.
var readers = []string{"read", "getopts", "mapfile", "readarray"}

// builtin is what changes the shell itself, and what only seems to do something.
func (sh *shell) builtin(name string, args []Value) bool {
	if slices.Contains(readers, name) {
		for _, a := range args {
			sh.set(a.Text, Unknown(), false)
		}
		return false
	}
	switch name {
	case "cd":
		sh.dir = sh.cd(args)
		return true
	case "pushd", "popd":
		sh.dir = Unknown()
	case "unset":
		for _, a := range args {
			delete(sh.vars, a.Text)
		}
	case "set":
		for _, a := range args {
			sh.all = sh.all || a.Text == "allexport" || strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "a")
		}
		return true
	case ".", "source", "eval", "alias":
		sh.lost = true
		clear(sh.vars)
	case ":", "true":
		return true
	}
	return false
}

func (sh *shell) cd(args []Value) Value {
	args = slices.DeleteFunc(slices.Clone(args), func(a Value) bool { return strings.HasPrefix(a.Text, "-") && a.Text != "-" })
	if len(args) != 1 || args[0].Open || args[0].Text == "-" || strings.HasPrefix(args[0].Text, "~") {
		return Unknown()
	}
	return sh.dir.Path(args[0].Text)
}

// wrappers start the program that follows their own flags.
var wrappers = []string{"env", "exec", "command", "nice", "nohup", "sudo", "time", "busybox", "builtin"}

// unwrap removes what starts a program in another way, and sets for it what env
// sets.
func (sh *shell) unwrap(args []Value) []Value {
	for len(args) > 0 && !args[0].Open && slices.Contains(wrappers, path.Base(args[0].Text)) {
		env := path.Base(args[0].Text) == "env" || path.Base(args[0].Text) == "sudo"
		args = args[1:]
	flags:
		for len(args) > 0 {
			switch key, text, ok := strings.Cut(args[0].Text, "="); {
			case env && ok && syntax.ValidName(key):
				sh.set(key, Value{Text: text, Open: args[0].Open, Vars: args[0].Vars, Pos: args[0].Pos}, true)
			case args[0].Text == "-i" && env || args[0].Text == "-":
				clear(sh.vars)
			case args[0].Text == "-u" && env && len(args) > 1:
				delete(sh.vars, args[1].Text)
				args = args[1:]
			case !strings.HasPrefix(args[0].Text, "-"):
				break flags
			}
			args = args[1:]
		}
	}
	return args
}
