package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// scope is what an expression of a workflow can name: contexts by name, each
// a tree of maps and texts.
type scope map[string]any

// expand replaces each ${{ … }} in text, as GitHub does before anything runs.
func (s scope) expand(text string) (string, error) {
	var failed error
	out := placeholder.ReplaceAllStringFunc(text, func(m string) string {
		v, err := s.eval(placeholder.FindStringSubmatch(m)[1])
		if err != nil && failed == nil {
			failed = err
		}
		return asText(v)
	})
	return out, failed
}

var placeholder = regexp.MustCompile(`\$\{\{(.*?)\}\}`)

// value evaluates text that is one expression, with or without ${{ }}.
func (s scope) value(text string) (any, error) {
	if m := placeholder.FindStringSubmatch(text); m != nil && m[0] == strings.TrimSpace(text) {
		text = m[1]
	}
	return s.eval(text)
}

func (s scope) eval(text string) (v any, err error) {
	p := &expression{scope: s, words: exprWord.FindAllString(text, -1)}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("expression %q: %v", text, r)
		}
	}()
	v = p.or()
	if p.at < len(p.words) {
		return nil, fmt.Errorf("expression %q: %q is left", text, p.words[p.at])
	}
	return v, nil
}

var exprWord = regexp.MustCompile(`'(?:[^']|'')*'|==|!=|&&|\|\||[!(),]|[\w.-]+|\S`)

// expression is a parser of the part of the language that the workflows use
// (docs.github.com, "Evaluate expressions in workflows and actions").
type expression struct {
	scope scope
	words []string
	at    int
}

func (p *expression) take(word string) bool {
	if p.at < len(p.words) && p.words[p.at] == word {
		p.at++
		return true
	}
	return false
}

func (p *expression) or() any {
	v := p.and()
	for p.take("||") {
		if w := p.and(); !truth(v) {
			v = w
		}
	}
	return v
}

func (p *expression) and() any {
	v := p.equal()
	for p.take("&&") {
		if w := p.equal(); truth(v) {
			v = w
		}
	}
	return v
}

func (p *expression) equal() any {
	v := p.unary()
	switch {
	case p.take("=="):
		return strings.EqualFold(asText(v), asText(p.unary()))
	case p.take("!="):
		return !strings.EqualFold(asText(v), asText(p.unary()))
	}
	return v
}

func (p *expression) unary() any {
	if p.take("!") {
		return !truth(p.unary())
	}
	if p.take("(") {
		v := p.or()
		p.need(")")
		return v
	}
	if p.at == len(p.words) {
		panic("it ends early")
	}
	word := p.words[p.at]
	p.at++
	switch {
	case strings.HasPrefix(word, "'"):
		return strings.ReplaceAll(strings.Trim(word, "'"), "''", "'")
	case word == "true" || word == "false":
		return word == "true"
	case p.take("("):
		return p.call(word)
	}
	return p.scope.look(strings.Split(word, "."))
}

func (p *expression) need(word string) {
	if !p.take(word) {
		panic("no " + word)
	}
}

func (p *expression) call(name string) any {
	var args []any
	for !p.take(")") {
		args = append(args, p.or())
		p.take(",")
	}
	switch name {
	case "startsWith":
		return strings.HasPrefix(strings.ToLower(asText(args[0])), strings.ToLower(asText(args[1])))
	case "fromJSON":
		var v any
		if err := json.Unmarshal([]byte(asText(args[0])), &v); err != nil {
			panic(err)
		}
		return v
	}
	panic("no function " + name)
}

// look finds a property. A context that is not there is a mistake, a property
// is "".
func (s scope) look(path []string) any {
	v, ok := s[path[0]]
	if !ok {
		panic("no context " + path[0])
	}
	for _, name := range path[1:] {
		switch m := v.(type) {
		case map[string]any:
			v = m[name]
		case map[string]string:
			v = m[name]
		default:
			return nil
		}
	}
	return v
}

func truth(v any) bool { return v != nil && v != false && v != "" }

func asText(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func TestExpressions(t *testing.T) {
	s := scope{"github": map[string]any{"event_name": "push", "ref_type": "tag"}, "env": map[string]string{"A": "ghcr.io/x"}, "secrets": map[string]string{}}
	for text, want := range map[string]any{
		"github.event_name == 'push'":                                   true,
		"github.ref_type == 'tag' && github.event_name || 'x'":          "push",
		"github.ref_type == 'branch' && github.event_name || ''":        "",
		"${{ !startsWith(env.A, 'ghcr.io/') || secrets.B == 'it''s' }}": false,
		"secrets.B || env.A":                                            "ghcr.io/x",
		"(true && false) != true":                                       true,
	} {
		if got, err := s.value(text); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"nothing.x", "hashFiles('x')", "'a' 'b'", "true &&"} {
		if got, err := s.value(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
	if got, err := s.expand("a ${{ env.A }} b"); err != nil || got != "a ghcr.io/x b" {
		t.Errorf("%q, %v", got, err)
	}
}
