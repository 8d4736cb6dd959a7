package dockerfile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// Error says what is wrong with a Dockerfile, or with its ignore file, and
// where. It wraps the cause where that is somebody else's, such as a
// [BaseResolver]'s.
type Error struct {
	File  string // slash path relative to the context root
	Range Range  // zero where no one place is wrong
	Cause string // one line

	hint string
	err  error
}

// Error is e.g. "dockerfile cmd/x/Dockerfile:3: unknown instruction: FORM".
func (e *Error) Error() string {
	place := e.File
	if e.Range.Start.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, e.Range.Start.Line)
	}
	return "dockerfile " + place + ": " + e.Cause
}

// Hint is the line to show below the error; "" where there is none.
func (e *Error) Hint() string { return e.hint }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.err }

// fail makes an Error of whatever the front end said. Bases that could not be
// resolved are all reported, in file order, where the front end stops at the
// one that happened to fail first.
func (e *evaluation) fail(err error) error {
	if failed := e.bases.failures(e); len(failed) > 0 {
		return errors.Join(failed...)
	}
	at := e.place(err)
	cause, hint := e.unset(at)
	return &Error{File: e.in.Dockerfile, Range: at, Cause: cmp.Or(cause, e.cause(err)), hint: hint, err: err}
}

// unset explains a FROM that the front end refuses because an argument in it has
// no value. Of a platform its own words are about what is left of the text.
func (e *evaluation) unset(at Range) (cause, hint string) {
	if e.graph == nil || at.Start.Line == 0 {
		return "", ""
	}
	for _, st := range e.script.file.Stages {
		if st.From.Range.Start.Line != at.Start.Line {
			continue
		}
		if name := e.graph.unset(st.Platform); name != "" {
			return name + " has no value in --platform=" + st.Platform, "write --platform=$TARGETPLATFORM, or " + giveValue(name)
		}
		if name := e.graph.unset(st.Base); name != "" {
			return "", giveValue(name)
		}
	}
	return "", ""
}

func giveValue(name string) string {
	return "give it a default before the first FROM, ARG " + name + "=…, or a value, IMAGE_BUILD_ARGS=" + name + "=…"
}

// unset is the first variable of a word that leaves a hole in it, or "".
func (g *graph) unset(word string) string {
	for _, m := range variable.FindAllStringSubmatch(word, -1) {
		if g.expand(m[0]) == "" { // with what stands in for it
			return cmp.Or(m[1], m[2])
		}
	}
	return ""
}

var variable = regexp.MustCompile(`\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)[^}]*\})`)

// place is where the front end says it is, or else where it must be: it gives
// no place for a wrong --from.
func (e *evaluation) place(err error) Range {
	var at *parser.LocationError
	if !errors.As(err, &at) {
		if e.script != nil {
			return e.script.badFrom()
		}
		return Range{}
	}
	if e.script == nil {
		if line := directiveLine(e.text.data); line > 0 {
			return e.text.span(line, line)
		}
	}
	var first Range
	for _, ranges := range at.Locations {
		for _, r := range e.text.ranges(ranges) {
			if first.Start.Line == 0 || r.Start.Line < first.Start.Line {
				first = r
			}
		}
	}
	return first
}

// cause is the front end's text from inside the wrapping that repeats the
// place, on one line.
func (e *evaluation) cause(err error) string {
	var at *parser.LocationError
	if errors.As(err, &at) {
		err = at.Unwrap()
	}
	return strings.ReplaceAll(oneLine(err.Error()), "failed to ", "cannot ")
}

func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// directiveLine is the line of a parser directive that is repeated or no legal
// escape, or 0. The front end's own place for these is a line too early.
func directiveLine(data []byte) int {
	directives, err := new(parser.DirectiveParser).ParseAll(data)
	for i, d := range directives {
		if d.Name == "escape" && d.Value != "`" && d.Value != `\` {
			return i + 1
		}
	}
	if err != nil {
		return len(directives) + 1
	}
	return 0
}
