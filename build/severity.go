package build

import (
	"errors"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/verify"
)

// severities are those of archmage.yaml, which Open has checked, and on top of
// them those given.
func (p *Project) severities(given []string) (verify.Options, error) {
	o := verify.Options{Severity: map[string]verify.Severity{}}
	var errs []error
	for _, s := range p.Severities {
		o.Severity[s.Rule] = verify.Severity(s.Value)
	}
	for _, text := range given {
		rule, value, _ := strings.Cut(text, "=")
		rule, value = strings.TrimSpace(rule), strings.TrimSpace(value)
		switch hint, ok := knownRule(rule); {
		case !ok:
			errs = append(errs, Usage(hint, "--severity: no rule %q", rule))
		case !slices.Contains([]verify.Severity{verify.Off, verify.Warning, verify.Error}, verify.Severity(value)):
			errs = append(errs, Usage("e.g. --severity "+rule+"=off; or warning, error", "--severity: %q is no severity", value))
		}
		o.Severity[rule] = verify.Severity(value)
	}
	return o, errors.Join(errs...)
}

// checkSeverities refuses settings of rules that there are none of.
func checkSeverities(s *config.Settings) error {
	var errs []error
	for _, set := range s.Severities {
		if hint, ok := knownRule(set.Rule); !ok {
			errs = append(errs, config.Errorf(set.Where, hint, "no rule %q", set.Rule))
		}
	}
	return errors.Join(errs...)
}

// knownRule reports whether a rule of ours or of BuildKit's has that name, and
// else which one is meant.
func knownRule(name string) (hint string, ok bool) {
	var names []string
	for _, r := range verify.Rules() {
		names = append(names, r.Name)
	}
	for _, r := range dockerfile.LintRules() {
		names = append(names, r.Name)
	}
	if slices.Contains(names, name) {
		return "", true
	}
	if near := console.Nearest(name, names); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?", false
	}
	return "the rules are in docs/rules and on BuildKit's page of build checks", false
}
