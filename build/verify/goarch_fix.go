package verify

import (
	"slices"
	"strings"
)

// span is a part of an instruction's text.
type span struct{ start, end int }

// places are where the constant stands in the instruction's text: in a RUN only
// where a compiler that is wrong hears it. Where that cannot be told, there are
// none.
func (c fixed) places(group []fixed) []span {
	text := c.in.Text
	all := occurrences(text, c.name, c.arch.Text)
	if c.in.Keyword != "RUN" || len(all) < 2 {
		return all
	}
	if c.kept != nil {
		return nil
	}
	inScript := occurrences(c.script.Text, c.name, c.arch.Text)
	if len(inScript) != len(all) {
		return nil
	}
	var list []span
	for i, at := range inScript {
		if slices.ContainsFunc(group, func(g fixed) bool {
			return at.start > g.arch.Pos && at.start-g.arch.Pos <= len("GOARCH='") && g.arch.Pos >= 0
		}) {
			list = append(list, all[i])
		}
	}
	return list
}

// occurrences finds a constant in text that is no comment.
func occurrences(text, name, constant string) []span {
	var list []span
	pattern := assignment(name, constant)
	offset := 0
	for line := range strings.Lines(text) {
		for at := 0; !strings.HasPrefix(strings.TrimSpace(line), "#"); {
			m := pattern.FindStringSubmatchIndex(line[at:])
			if m == nil {
				break
			}
			list = append(list, span{offset + at + m[4], offset + at + m[5]})
			at += m[5]
		}
		offset += len(line)
	}
	return list
}

// fix is the instruction as it should be, after the ARG that it lacks.
func (c fixed) fix(at []span) string {
	if c.in.Stage < 0 {
		return "ENV GOARCH=${TARGETARCH} instead of ARG GOARCH, below ARG TARGETARCH"
	}
	var lines []string
	if (scope{c.r.File, c.in}).definition("TARGETARCH") == nil {
		lines = append(lines, "ARG TARGETARCH")
	}
	switch {
	case c.verb == "install":
		return strings.Join(append(lines, insteadOfInstall(c.files[0])), "\n")
	case len(at) == 0 || c.unexpanded():
		return strings.Join(append(lines, "GOARCH=${TARGETARCH} instead of GOARCH="+c.arch.Text), "\n")
	case c.in.Keyword == "ARG" && len(c.in.Args) == 1:
		return strings.Join(append(lines, "ARG GOARCH=${TARGETARCH}"), "\n")
	}
	text := c.in.Text
	for _, p := range slices.Backward(at) {
		text = text[:p.start] + replacement(text[p.start:p.end]) + text[p.end:]
	}
	return strings.Join(append(lines, text), "\n")
}

// replacement keeps the quotes that let variables through.
func replacement(old string) string {
	if strings.HasPrefix(old, `"`) {
		return `"${TARGETARCH}"`
	}
	return "${TARGETARCH}"
}

// unexpanded is a RUN in the exec form, in which no variable is expanded.
func (c fixed) unexpanded() bool {
	return c.in.Keyword == "RUN" && strings.HasPrefix(runBody(c.in.Text), "[")
}

// edits are what the fix says, byte by byte; the ARG goes behind the FROM.
func (c fixed) edits(at []span) []Edit {
	if len(at) == 0 || c.unexpanded() {
		return nil
	}
	data := c.r.File.Data
	start, end := c.r.File.Offsets(c.in.Range)
	if string(data[start:end]) != c.in.Text {
		return nil
	}
	var list []Edit
	if (scope{c.r.File, c.in}).definition("TARGETARCH") == nil {
		list = append(list, declaration(c.r, c.in.Stage, "TARGETARCH"))
	}
	for _, p := range at {
		list = append(list, Edit{File: c.r.Dockerfile, Start: start + p.start, End: start + p.end, New: replacement(c.in.Text[p.start:p.end])})
	}
	return list
}
