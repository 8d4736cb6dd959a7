package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/archmage-go/archmage/build/run"
)

// GoError is a go command that did not succeed, in its own words.
type GoError struct {
	Doing string // e.g. "compile app for linux/arm64"
	Text  string // what it wrote, without lines about downloads
}

// Error puts go's text below what was being done, or beside it if it is a line.
func (e *GoError) Error() string {
	if strings.Contains(e.Text, "\n") {
		return e.Doing + ":\n" + e.Text
	}
	return e.Doing + ": " + e.Text
}

// advice is what to do about messages whose own advice is missing, or does not
// fit a build in a container. The go command has no error codes: its text is
// all there is.
var advice = []struct{ text, hint string }{
	{"error obtaining VCS status", "run `git config --global --add safe.directory <this directory>`, or set GOFLAGS=-buildvcs=false"},
	{"go work vendor", "run `go work vendor`"},
	{"inconsistent vendoring", "run `go mod vendor`"},
}

// Hint is the line to show below the error; "" where there is none.
func (e *GoError) Hint() string {
	for _, a := range advice {
		if strings.Contains(e.Text, a.text) {
			return a.hint
		}
	}
	return ""
}

// Said makes a [*GoError] of a go command that exited with an error, and
// otherwise says why it could not be run to its end.
func Said(doing, text string, err error) error {
	var exit *run.ExitError
	if !errors.As(err, &exit) || exit.Code < 0 {
		return fmt.Errorf("%s: %w", doing, err)
	}
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "go: downloading ") {
			lines = append(lines, line)
		}
	}
	text = strings.Trim(strings.Join(lines, ""), "\n")
	if text == "" {
		text = exit.Error()
	}
	return &GoError{Doing: doing, Text: text}
}
