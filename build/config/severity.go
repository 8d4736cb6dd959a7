package config

import (
	"errors"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

var severities = []string{"off", "warning", "error"}

// checkSeverity checks how the findings of a rule shall count.
func checkSeverity(value string) error {
	if !slices.Contains(severities, value) {
		return bad("off, warning or error", "%q is no severity", value)
	}
	return nil
}

// applyVerify reads `verify:` where it is a mapping.
func (s *Settings) applyVerify(node ast.Node) error {
	fields, err := mapping(node)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range fields {
		if f.key == "severity" {
			errs = append(errs, s.applySeverities(f.value))
			continue
		}
		errs = append(errs, at(f.node, unknownKey(f.key, []string{"severity"})))
	}
	return errors.Join(errs...)
}

func (s *Settings) applySeverities(node ast.Node) error {
	if _, isNull := node.(*ast.NullNode); isNull {
		return nil
	}
	fields, err := mapping(node)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range fields {
		value, err := scalar(f.value)
		if err == nil {
			err = checkSeverity(value)
		}
		if err != nil {
			errs = append(errs, at(f.value, err))
			continue
		}
		s.Severities = append(s.Severities, Severity{Rule: f.key, Value: value, Where: position(f.node)})
	}
	return errors.Join(errs...)
}
