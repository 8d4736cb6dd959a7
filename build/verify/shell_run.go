package verify

import (
	"maps"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call is a command that a RUN starts, as far as the text tells.
type call struct {
	args   []value          // the program first, without env, sudo and the like
	hears  map[string]value // exported variables of those in heard
	dir    value            // working directory
	cond   bool             // what decides whether it runs may be the platform
	maybe  bool             // something else decides
	writes bool             // it has redirections
}

// heard are the variables of which a call keeps the value.
var heard = []string{"GOARCH", "GOOS", "GOBIN", "GOPATH", "CGO_ENABLED"}

// name is the program without directories; "" where it is unknown.
func (c *call) name() string {
	if len(c.args) == 0 || c.args[0].open {
		return ""
	}
	return path.Base(c.args[0].text)
}

// variable is one of a shell.
type variable struct {
	value
	exported bool
}

// shell follows a script without running it: variables by what is assigned to
// them, branches each on its own, loops once.
type shell struct {
	script
	scripts scripts
	vars    map[string]variable
	funcs   map[string]*syntax.Stmt
	dir     value
	all     bool // set -a
	lost    bool // something that is not here may have set any variable
	cond    bool
	maybe   bool // a branch that need not be taken, for whatever reason
	nested  int  // how deep in texts of sh -c
	depth   int  // how deep in functions

	calls  *[]call
	budget *int  // commands that may still be read
	plain  *bool // the script is a list of commands and nothing else
}

const (
	mostCommands = 2000
	mostDepth    = 8
)

// follow reads a script that starts in an environment and a directory.
func (c scripts) follow(s script, env []string, dir string) (*shell, []call) {
	var calls []call
	budget, plain := mostCommands, true
	sh := &shell{
		script: s, scripts: c, vars: map[string]variable{}, funcs: map[string]*syntax.Stmt{},
		dir: literal(dir), calls: &calls, budget: &budget, plain: &plain,
	}
	for _, e := range env {
		key, text, _ := strings.Cut(e, "=")
		sh.vars[key] = variable{value{text: text, vars: []string{key}, pos: -1}, true}
	}
	sh.list(s.file.Stmts)
	return sh, calls
}

// get is a variable's value: nothing where it was never set.
func (sh *shell) get(name string) value {
	if v, ok := sh.vars[name]; ok {
		return v.value
	}
	if sh.lost || name == "HOME" || name == "PATH" || name == "PWD" || name == "HOSTNAME" {
		return unknownValue(name)
	}
	return value{vars: []string{name}, pos: -1}
}

func (sh *shell) set(name string, v value, export bool) {
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
			v.value = v.either(b.get(name))
			if v.exported != other.exported {
				v.value, v.exported = unknownValue(v.vars...), true
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
			export = export || strings.HasPrefix(flag.text, "-") && strings.Contains(flag.text, "x")
			if flag.open || strings.Contains(flag.text, "=") {
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

func (sh *shell) assigned(a *syntax.Assign) value {
	if a.Array != nil || a.Index != nil {
		return unknownValue()
	}
	v := sh.word(a.Value)
	if a.Append {
		return sh.get(a.Name.Value).plus(v)
	}
	if sh.nested == 0 {
		v.pos = int(a.Name.Pos().Offset())
	}
	return v
}
