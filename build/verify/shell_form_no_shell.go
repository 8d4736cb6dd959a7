package verify

import (
	"encoding/json"
	"regexp"
	"strings"
)

// shellFormNoShell finds what only a shell could start, in images that surely
// have none.
var shellFormNoShell = perImage(func(b *result) []remark {
	runs := b.runsWithoutShell()
	s, ok := b.start()
	if !ok || !s.ins.Shell || !b.lacksShell(s.program()) {
		return runs
	}
	words := s.words(b)
	text := words[len(words)-1] // what the shell gets to read
	why := "the shell form starts "
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		why = "this is no JSON and so a shell form, which starts "
	}
	what := why + s.program() + ", which the image does not have"
	return append(runs, remark{ins: s.ins, what: what, fix: formOf(s.ins, split(text))})
})

var (
	bareWords = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./ -]+$`)
	lastComma = regexp.MustCompile(`,\s*\]$`)
)

// split is a command line without anything that a shell would do for it, as
// words; nil where there is something. Broken JSON is mended where that is easy.
func split(text string) []string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[") {
		var words []string
		mended := strings.ReplaceAll(text, "'", `"`)
		mended = lastComma.ReplaceAllString(mended, "]")
		if json.Unmarshal([]byte(mended), &words) == nil {
			return words
		}
		if inner, ok := strings.CutSuffix(text[1:], "]"); ok && bareWords.MatchString(inner) {
			return strings.FieldsFunc(inner, func(r rune) bool { return r == ',' || r == ' ' })
		}
		return nil
	}
	if !bareWords.MatchString(text) {
		return nil
	}
	words := strings.Fields(text)
	if len(words) > 1 && words[0] == "exec" {
		words = words[1:]
	}
	if strings.Contains(words[0], "=") {
		return nil // a variable for the command
	}
	return words
}
