package dockerfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/moby/buildkit/util/suggest"
)

// LintRule is one rule of BuildKit's linter.
type LintRule struct {
	Name         string
	Description  string
	URL          string // its page; "" where it has none
	Experimental bool   // silent unless `# check=experimental=…` asks for it
}

// LintRules lists the rules of BuildKit's linter by name: those that a
// [Warning] may have.
func LintRules() []LintRule {
	list := []LintRule{
		rule(linter.RuleStageNameCasing), rule(linter.RuleFromAsCasing), rule(linter.RuleNoEmptyContinuation),
		rule(linter.RuleConsistentInstructionCasing), rule(linter.RuleDuplicateStageName),
		rule(linter.RuleReservedStageName), rule(linter.RuleJSONArgsRecommended),
		rule(linter.RuleMaintainerDeprecated), rule(linter.RuleUndefinedArgInFrom),
		rule(linter.RuleWorkdirRelativePath), rule(linter.RuleUndefinedVar),
		rule(linter.RuleMultipleInstructionsDisallowed), rule(linter.RuleLegacyKeyValueFormat),
		rule(linter.RuleInvalidBaseImagePlatform), rule(linter.RuleRedundantTargetPlatform),
		rule(linter.RuleSecretsUsedInArgOrEnv), rule(linter.RuleInvalidDefaultArgInFrom),
		rule(linter.RuleFromPlatformFlagConstDisallowed), rule(linter.RuleCopyIgnoredFile),
		rule(linter.RuleInvalidDefinitionDescription), rule(linter.RuleExposeProtoCasing),
		rule(linter.RuleExposeInvalidFormat),
	}
	slices.SortFunc(list, func(a, b LintRule) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func rule[F any](r linter.LinterRule[F]) LintRule {
	return LintRule{Name: r.Name, Description: r.Description, URL: r.URL, Experimental: r.Experimental}
}

// Has reports whether a rule shall be silent.
func (s Skip) Has(rule string) bool { return s.All || slices.Contains(s.Rules, rule) }

// lintOptions settles what the file, or the build argument in its place, says of
// the linter. With error=true the front end would stop once all is evaluated;
// whoever gets the recipe has to.
func (e *evaluation) lintOptions(bc *dockerui.Client) error {
	if bc.LinterConfig == nil { // as the front end reads it
		text, _, _, _ := parser.ParseDirective("check", e.text.data)
		config, err := linter.ParseLintOptions(text)
		if err != nil {
			return fmt.Errorf("cannot parse check options: %w", err)
		}
		bc.LinterConfig = config
	}
	skipped := linter.New(bc.LinterConfig)
	e.script.file.Check = Check{Skip: skip(skipped), Error: skipped.ReturnAsError}
	bc.LinterConfig.ReturnAsError = false
	return nil
}

// commented is what the comments above an instruction say of it.
func commented(comments []string) Skip {
	if comments == nil {
		return Skip{}
	}
	return skip(linter.New(&linter.Config{}).WithMergedConfigFromComments(comments))
}

func skip(l *linter.Linter) Skip {
	return Skip{All: l.SkipAll, Rules: slices.Sorted(maps.Keys(l.SkippedRules))}
}

// warn implements linter.LintWarnFunc.
func (e *evaluation) warn(rule, description, url, message string, at []parser.Range) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.warnings = append(e.warnings, Warning{
		Rule: rule, Description: description, URL: url, Message: e.guess(rule, oneLine(message)), Ranges: e.text.ranges(at),
	})
}

// guess makes the one message steady whose suggestion is another each time
// where two arguments are equally near: the first by name counts.
func (e *evaluation) guess(rule, message string) string {
	_, name, _ := strings.Cut(message, "'")
	name, rest, _ := strings.Cut(name, "'")
	if rule != linter.RuleUndefinedArgInFrom.Name || !strings.Contains(rest, "did you mean") {
		return message
	}
	known := e.graph.args.Keys()
	for _, ins := range e.script.file.Global {
		for _, a := range ins.Args {
			known = append(known, a.Key)
		}
	}
	slices.Sort(known)
	near, _ := suggest.Search(name, known, true)
	return linter.RuleUndefinedArgInFrom.Format(name, near)
}

// sorted puts warnings in file order and drops repetitions. The front end's own
// order differs from run to run.
func sorted(list []Warning) []Warning {
	line := func(w Warning) int {
		if len(w.Ranges) == 0 {
			return 0
		}
		return w.Ranges[0].Start.Line
	}
	slices.SortStableFunc(list, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(line(a), line(b)), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(list, func(a, b Warning) bool {
		return a.Rule == b.Rule && a.Message == b.Message && slices.Equal(a.Ranges, b.Ranges)
	})
}
