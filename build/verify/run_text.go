package verify

import (
	"regexp"
	"strings"
)

var (
	goBuild   = regexp.MustCompile(`(^|[\s;&|(])((?:/\S*/)?go(?:1\.[0-9.]+)?\s+(?:-C[ =]\S+\s+)?(?:build|install)\b)`)
	buildArch = regexp.MustCompile(`(\bGOARCH=["']?)\$(?:\{BUILDARCH\}|BUILDARCH\b)`)
)

// hearTarget is a RUN's text whose compiler hears the target. ok is false where
// the text has no place for it, as the exec form has none; then it is as it was.
func hearTarget(text string, host bool) (out string, ok bool) {
	if strings.HasPrefix(strings.TrimSpace(runBody(text)), "[") {
		return text, false
	}
	pattern, by := goBuild, "${1}GOARCH=$${TARGETARCH} ${2}"
	if host {
		pattern, by = buildArch, "${1}$${TARGETARCH}"
	}
	out = eachCodeLine(text, func(line string) string { return pattern.ReplaceAllString(line, by) })
	return out, out != text
}

// eachCodeLine changes the lines of an instruction that are no comments.
func eachCodeLine(text string, change func(string) string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			line = change(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

// runBody is a RUN's text behind the keyword and its flags.
func runBody(text string) string {
	_, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	for {
		rest = strings.TrimLeft(rest, " \t\r\n\\`")
		if !strings.HasPrefix(rest, "--") {
			return rest
		}
		flag := strings.IndexAny(rest, " \t\r\n")
		if flag < 0 {
			return ""
		}
		rest = rest[flag:]
	}
}
