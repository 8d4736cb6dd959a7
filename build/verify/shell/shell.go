package shell

import (
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variable is one of a shell.
type variable struct {
	Value
	exported bool
}

// shell follows a script without running it: variables by what is assigned to
// them, branches each on its own, loops once.
type shell struct {
	parsed
	scripts *Scripts
	vars    map[string]variable
	funcs   map[string]*syntax.Stmt
	dir     Value
	all     bool // set -a
	lost    bool // something that is not here may have set any variable
	cond    bool
	maybe   bool // a branch that need not be taken, for whatever reason
	nested  int  // how deep in texts of sh -c
	depth   int  // how deep in functions

	calls  *[]Call
	budget *int  // commands that may still be read
	plain  *bool // the script is a list of commands and nothing else
}

const (
	mostCommands = 2000
	mostDepth    = 8
)

func (c *Scripts) follow(p parsed, env []string, dir string) *Script {
	var calls []Call
	budget, plain := mostCommands, true
	sh := &shell{
		parsed: p, scripts: c, vars: map[string]variable{}, funcs: map[string]*syntax.Stmt{},
		dir: literal(dir), calls: &calls, budget: &budget, plain: &plain,
	}
	for _, e := range env {
		key, text, _ := strings.Cut(e, "=")
		sh.vars[key] = variable{Value{Text: text, Vars: []string{key}, Pos: -1}, true}
	}
	sh.list(p.file.Stmts)
	return &Script{Text: p.text, Calls: calls, Lost: sh.lost, Plain: plain, end: sh}
}

// asks reports whether what decides may be the platform.
func (sh *shell) asks(text string) bool { return sh.scripts.Asks != nil && sh.scripts.Asks(text) }

// get is a variable's value: nothing where it was never set.
func (sh *shell) get(name string) Value {
	if v, ok := sh.vars[name]; ok {
		return v.Value
	}
	if sh.lost || name == "HOME" || name == "PATH" || name == "PWD" || name == "HOSTNAME" {
		return Unknown(name)
	}
	return Value{Vars: []string{name}, Pos: -1}
}

func (sh *shell) set(name string, v Value, export bool) {
	old := sh.vars[name]
	sh.vars[name] = variable{v, old.exported || export || sh.all}
}

// branch is a shell that what follows does not hear of.
func (sh *shell) branch() *shell {
	b := *sh
	b.vars = maps.Clone(sh.vars)
	b.funcs = maps.Clone(sh.funcs)
	return &b
}

// option is a branch that need not be taken.
func (sh *shell) option() *shell {
	b := sh.branch()
	b.maybe = true
	return b
}

// join goes on as after one of several branches.
func (sh *shell) join(branches ...*shell) {
	first := branches[0]
	vars := maps.Clone(first.vars)
	for _, b := range branches[1:] {
		for name := range b.vars {
			vars[name] = variable{first.get(name), first.vars[name].exported}
		}
	}
	for name, v := range vars {
		for _, b := range branches[1:] {
			other := b.vars[name]
			v.Value = v.either(b.get(name))
			if v.exported != other.exported {
				v.Value, v.exported = Unknown(v.Vars...), true
			}
		}
		vars[name] = v
	}
	sh.vars, sh.dir = vars, first.dir
	for _, b := range branches[1:] {
		sh.dir = sh.dir.either(b.dir)
	}
	for _, b := range branches {
		sh.lost = sh.lost || b.lost
		sh.all = sh.all || b.all
	}
}

// declare is export and its like.
func (sh *shell) declare(c *syntax.DeclClause) {
	export := c.Variant != nil && c.Variant.Value == "export"
	for _, a := range c.Args {
		switch {
		case a.Name == nil:
			flag := sh.word(a.Value)
			export = export || strings.HasPrefix(flag.Text, "-") && strings.Contains(flag.Text, "x")
			if flag.Open || strings.Contains(flag.Text, "=") {
				sh.lost = true // export $(…)
			}
		case a.Naked:
			if _, ok := sh.vars[a.Name.Value]; ok {
				sh.set(a.Name.Value, sh.get(a.Name.Value), export)
			}
		default:
			sh.set(a.Name.Value, sh.assigned(a), export)
		}
	}
}

func (sh *shell) assigned(a *syntax.Assign) Value {
	if a.Array != nil || a.Index != nil {
		return Unknown()
	}
	v := sh.word(a.Value)
	if a.Append {
		return sh.get(a.Name.Value).plus(v)
	}
	if sh.nested == 0 {
		v.Pos = int(a.Name.Pos().Offset())
	}
	return v
}
