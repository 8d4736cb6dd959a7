package dockerfile

import (
	"errors"
	"fmt"
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
	return &Error{File: e.in.Dockerfile, Range: e.place(err), Cause: e.cause(err), err: err}
}

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
