package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (sh *shell) list(stmts []*syntax.Stmt) {
	for _, s := range stmts {
		sh.stmt(s)
	}
}

func (sh *shell) stmt(s *syntax.Stmt) {
	if *sh.budget--; *sh.budget < 0 {
		sh.lost = true
		*sh.plain = false
		return
	}
	if s.Negated || s.Background || s.Coprocess {
		*sh.plain = false
	}
	if s.Background {
		sh = sh.branch()
	}
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		sh.call(c, s.Redirs)
	case *syntax.DeclClause:
		sh.declare(c)
	case *syntax.BinaryCmd:
		sh.binary(c)
	default:
		*sh.plain = false
		sh.compound(c)
	}
}

func (sh *shell) compound(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.Block:
		sh.list(c.Stmts)
	case *syntax.Subshell:
		sh.branch().list(c.Stmts)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			sh.stmt(c.Stmt)
		}
	case *syntax.IfClause:
		sh.ifClause(c)
	case *syntax.CaseClause:
		sh.caseClause(c)
	case *syntax.ForClause:
		sh.forClause(c)
	case *syntax.WhileClause:
		sh.list(c.Cond)
		b := sh.option()
		for _, s := range c.Cond {
			b.cond = b.cond || sh.asks(sh.source(s))
		}
		b.list(c.Do)
		sh.join(sh.branch(), b)
	case *syntax.FuncDecl:
		if c.Name != nil {
			sh.funcs[c.Name.Value] = c.Body
		}
	}
}

func (sh *shell) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt:
		sh.stmt(c.X)
		if !tests(c.X) {
			sh.stmt(c.Y)
			return
		}
		*sh.plain = false
	case syntax.OrStmt:
		*sh.plain = false
		sh.stmt(c.X)
	default: // pipes
		*sh.plain = false
		sh.branch().stmt(c.X)
		sh.branch().stmt(c.Y)
		return
	}
	b := sh.option()
	b.cond = b.cond || sh.asks(sh.source(c.X))
	b.stmt(c.Y)
	sh.join(sh.branch(), b)
}

// tests reports whether a command asks something, so that what follows it may
// well not run.
func tests(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.TestClause, *syntax.ArithmCmd:
		return true
	case *syntax.CallExpr:
		return len(c.Args) > 0 && slices.Contains([]string{"[", "test", "grep", "command", "which", "false"}, c.Args[0].Lit())
	case *syntax.BinaryCmd:
		return tests(c.X) || tests(c.Y)
	}
	return s.Negated
}

func (sh *shell) ifClause(c *syntax.IfClause) {
	var branches []*shell
	cond := sh.cond
	for ; c != nil; c = c.Else {
		sh.list(c.Cond)
		for _, s := range c.Cond {
			cond = cond || sh.asks(sh.source(s))
		}
		b := sh.option()
		b.cond = cond
		b.list(c.Then)
		branches = append(branches, b)
		if len(c.Cond) == 0 { // else
			sh.join(branches...)
			return
		}
	}
	sh.join(append(branches, sh.branch())...)
}

func (sh *shell) caseClause(c *syntax.CaseClause) {
	cond := sh.cond || sh.asks(sh.source(c.Word))
	var branches []*shell
	rest := true
	for _, item := range c.Items {
		b := sh.option()
		b.cond = cond
		for _, p := range item.Patterns {
			rest = rest && p.Lit() != "*"
			b.cond = b.cond || sh.asks(sh.source(p))
		}
		b.list(item.Stmts)
		branches = append(branches, b)
	}
	if rest || len(branches) == 0 {
		branches = append(branches, sh.branch())
	}
	sh.join(branches...)
}

func (sh *shell) forClause(c *syntax.ForClause) {
	cond := sh.cond
	if w, ok := c.Loop.(*syntax.WordIter); ok && w.Name != nil {
		v := Unknown()
		sh.cond = sh.cond || sh.asks(w.Name.Value)
		for _, item := range w.Items {
			one := sh.word(item)
			sh.cond = sh.cond || sh.asks(one.Text) || sh.asks(sh.source(item))
			if v.Vars = union(v.Vars, one.Vars); len(w.Items) == 1 && !strings.ContainsAny(one.Text, "* \t\n") {
				v = one
			}
		}
		sh.set(w.Name.Value, v, false)
	}
	sh.list(c.Do)
	sh.cond = cond
}
