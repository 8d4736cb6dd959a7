package verify

import (
	"github.com/moby/patternmatcher"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// ignore is an ignore file. It decides as BuildKit's client does on its walk
// through the context (fsutil's filter): with the same matcher, and what was
// decided for a directory counts for what is below it.
type ignore struct {
	dockerfile.IgnoreFile
	matcher *patternmatcher.PatternMatcher // nil ignores nothing
}

func newIgnore(f dockerfile.IgnoreFile) ignore {
	return ignore{f, matcher(f.Patterns)}
}

// matcher is nil for no patterns, and for ones that BuildKit would refuse.
func matcher(patterns []string) *patternmatcher.PatternMatcher {
	if len(patterns) == 0 {
		return nil
	}
	m, err := patternmatcher.New(patterns)
	if err != nil {
		return nil
	}
	return m
}

// drops reports whether a file of the context is not sent.
func (g ignore) drops(file string) bool { return drops(g.matcher, file) }

func drops(m *patternmatcher.PatternMatcher, file string) bool {
	if m == nil {
		return false
	}
	var above patternmatcher.MatchInfo
	dropped := false
	for i, c := range file + "/" {
		if c != '/' {
			continue
		}
		var err error
		if dropped, above, err = m.MatchesUsingParentResults(file[:i], above); err != nil {
			return false
		}
	}
	return dropped
}

// culprit is the pattern that decides that file is dropped, and its line in the
// ignore file, 0 where that is unknown.
func (g ignore) culprit(file string) (pattern string, line int) {
	for n := len(g.Patterns) - 1; n >= 0; n-- {
		if drops(matcher(g.Patterns[:n]), file) {
			continue
		}
		if n < len(g.Lines) {
			line = g.Lines[n]
		}
		return g.Patterns[n], line
	}
	return "", 0
}
