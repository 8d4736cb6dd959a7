package adopt

import (
	"strings"

	"github.com/moby/patternmatcher"
)

// Ignores reports whether the lines of a .gitignore drop a path, for where there
// is no git to ask: character classes and escapes are not git's to the letter.
func Ignores(data []byte, name string) bool {
	var list []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		bare, not := strings.CutPrefix(line, "!")
		if bare = strings.TrimSuffix(bare, "/"); !strings.Contains(bare, "/") {
			bare = "**/" + bare
		}
		if bare = strings.TrimPrefix(bare, "/"); not {
			bare = "!" + bare
		}
		list = append(list, bare)
	}
	m, err := patternmatcher.New(list)
	if err != nil {
		return false
	}
	ignored, err := m.MatchesOrParentMatches(name)
	return err == nil && ignored
}
