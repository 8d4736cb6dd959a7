package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// field is one key of a mapping.
type field struct {
	key   string
	node  ast.Node // the key
	value ast.Node
}

func mapping(node ast.Node) ([]field, error) {
	var values []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, at(node, bad("", "want keys and values"))
	}
	fields := make([]field, 0, len(values))
	for _, v := range values {
		key := strings.Trim(v.Key.String(), `"'`)
		if slices.ContainsFunc(fields, func(f field) bool { return f.key == key }) {
			return nil, at(v.Key, bad("keep one", "key %q is there twice", key))
		}
		fields = append(fields, field{key, v.Key, v.Value})
	}
	return fields, nil
}

// flat is a scalar's text, or a list's items joined by blanks.
func flat(node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.SequenceNode:
		var items []string
		for _, v := range n.Values {
			item, err := scalar(v)
			if err != nil {
				return "", err
			}
			items = append(items, quoted(item))
		}
		return strings.Join(items, " "), nil
	case *ast.MappingNode, *ast.MappingValueNode:
		return flatMap(node)
	}
	return scalar(node)
}

// items are the entries of a list, each as written.
func items(node ast.Node) ([]string, error) {
	seq, ok := node.(*ast.SequenceNode)
	if !ok {
		return nil, at(node, bad("write one per line, each behind a dash", "want a list"))
	}
	var list []string
	for _, v := range seq.Values {
		item, err := scalar(v)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// flatMap is a mapping in the form that K=V settings have.
func flatMap(node ast.Node) (string, error) {
	fields, err := mapping(node)
	var words []string
	for _, f := range fields {
		value, valueErr := scalar(f.value)
		err = errors.Join(err, valueErr)
		words = append(words, quoted(f.key+"="+value))
	}
	return strings.Join(words, " "), err
}

func quoted(word string) string {
	if !strings.ContainsAny(word, " ,\t\n\"'") {
		return word
	}
	if strings.Contains(word, `"`) && !strings.Contains(word, "'") {
		return "'" + word + "'"
	}
	return `"` + strings.ReplaceAll(word, `"`, `"'"'"`) + `"`
}

func scalar(node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.NullNode:
		return "", nil
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return node.GetToken().Value, nil // as written: 1.10 stays 1.10
	}
	return "", at(node, bad("quote it", "want one value"))
}

func stringMap(node ast.Node, check func(string) error) (map[string]string, error) {
	fields, err := mapping(node)
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for _, f := range fields {
		if check != nil {
			if err := check(f.key); err != nil {
				return nil, at(f.node, err)
			}
		}
		if m[f.key], err = scalar(f.value); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func position(node ast.Node) string {
	pos := node.GetToken().Position
	return fmt.Sprintf("%s:%d:%d", FileName, pos.Line, pos.Column)
}

// at says where in the file a bad value stands, unless err says so already.
func at(node ast.Node, err error) error {
	if e, ok := err.(*Error); ok && strings.HasPrefix(e.Where, FileName) {
		return e
	} else if ok {
		return &Error{Where: position(node), Cause: e.Error(), hint: e.hint}
	}
	return located(position(node), err)
}

// syntaxError is what the YAML parser says, in one line.
func syntaxError(err error) error {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		pos := syntax.Token.Position
		return Errorf(fmt.Sprintf("%s:%d:%d", FileName, pos.Line, pos.Column), "", "%s", syntax.Message)
	}
	return Errorf(FileName, "", "%s", err)
}
