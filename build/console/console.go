// Package console is how archmage speaks. The rules:
//
//   - stdout carries results alone: references, paths, JSON. It can be piped.
//   - stderr carries everything else: one plain line per event, final when
//     written, without control characters where it is no terminal.
//   - An error is one line, `archmage: verb subject: cause`; its hint, what to
//     do, is a line of its own.
//   - Colour only marks what a line is, only on a terminal, never with NO_COLOR.
package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
)

// Console writes results and events. Its methods may be called concurrently;
// lines never interleave.
type Console struct {
	mu       sync.Mutex
	out, err io.Writer
	color    bool // of what goes to err
	colorOut bool
}

// New returns a console on out and err. Colour is used on each that is a
// terminal where the environment has no NO_COLOR and no TERM=dumb.
func New(out, err io.Writer) *Console {
	allowed := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return &Console{out: out, err: err, color: allowed && terminal(err), colorOut: allowed && terminal(out)}
}

func terminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && isatty.IsTerminal(f.Fd())
}

// Std is the console on the process's stdout and stderr.
func Std() *Console { return New(os.Stdout, os.Stderr) }

// Result writes one line of the result to stdout.
func (c *Console) Result(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintln(c.out, line)
}

// Write hands data to stdout as it is.
func (c *Console) Write(data []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(data)
}

// Would writes one line of what a dry run would do to stdout: it is the result of
// a dry run.
func (c *Console) Would(do, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.out, "%-8s %s\n", do, printable(what))
}

// Event says that something is done: what was done (one word, a verb of the
// CLI), to what, and how it ended.
func (c *Console) Event(verb, subject, detail string) {
	text := printable(fmt.Sprintf("%-34s %s", subject, detail))
	c.line(strings.TrimRight(c.paint(fmt.Sprintf("%-8s", verb), color.FgCyan)+" "+text, " "))
}

// Note tells what the user may want to know and need not act on.
func (c *Console) Note(format string, args ...any) {
	c.line(c.paint("note:", color.FgBlue) + " " + printable(fmt.Sprintf(format, args...)))
}

// Warn tells what may be wrong.
func (c *Console) Warn(format string, args ...any) {
	c.line(c.paint("warning:", color.FgYellow) + " " + printable(fmt.Sprintf(format, args...)))
}

// Lines writes text as it is, e.g. a finding with its source excerpt.
func (c *Console) Lines(lines string) {
	c.line(printable(lines))
}

// Error writes every error that was joined into err, in order and each once,
// with its hint.
func (c *Console) Error(err error) {
	for _, m := range messages(err) {
		text := c.paint("archmage:", color.FgRed) + " " + m.text
		if m.hint != "" {
			text += "\n  " + c.paint("hint:", color.FgGreen) + " " + m.hint
		}
		c.line(text)
	}
}

// Text is err as Error writes it, without colour and without the program's
// name: for whoever prints it himself.
func Text(err error) string {
	var lines []string
	for _, m := range messages(err) {
		lines = append(lines, m.text)
		if m.hint != "" {
			lines = append(lines, "  hint: "+m.hint)
		}
	}
	return strings.Join(lines, "\n")
}

// message is one error for people.
type message struct{ text, hint string }

func messages(err error) []message {
	var all []message
	for _, e := range Leaves(err) {
		m := message{printable(e.Error()), printable(hintOf(e))}
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

func (c *Console) line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintln(c.err, text)
}

// Bad marks a word of a result that says what is wrong.
func (c *Console) Bad(text string) string { return paint(text, color.FgRed, c.colorOut) }

// Doubtful marks a word of a result that says what may be wrong.
func (c *Console) Doubtful(text string) string { return paint(text, color.FgYellow, c.colorOut) }

func (c *Console) paint(text string, attr color.Attribute) string { return paint(text, attr, c.color) }

func paint(text string, attr color.Attribute, colored bool) string {
	if !colored {
		return text
	}
	p := color.New(attr)
	p.EnableColor()
	return p.Sprint(text)
}

// joinType is what errors.Join returns. Other errors that wrap several, such as
// those of fmt.Errorf, are one error with several causes.
var joinType = reflect.TypeOf(errors.Join(errors.New("")))

// Leaves are the errors joined into err, in order.
func Leaves(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || reflect.TypeOf(err) != joinType {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Leaves(e)...)
	}
	return all
}

// hintOf is the hint of the first error in the chain that has one.
func hintOf(err error) string {
	var h interface{ Hint() string }
	for errors.As(err, &h) {
		if hint := h.Hint(); hint != "" {
			return hint
		}
		next, ok := h.(interface{ Unwrap() error })
		if !ok {
			return ""
		}
		err = next.Unwrap()
	}
	return ""
}

// printable keeps what may come from a registry or a file from acting on the
// terminal, or on GitHub, whose runner takes lines of the log for commands. Line
// breaks stay: a compiler's output has them.
func printable(text string) string {
	return inert(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.TrimRight(text, "\n")))
}

// inert breaks what begins a workflow command: "::" at the beginning of a line,
// blanks left out, and "##[" anywhere (actions/runner, ActionCommand.cs).
func inert(text string) string {
	text = strings.ReplaceAll(text, "##[", "## [")
	if !strings.Contains(text, "::") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if bare := strings.TrimSpace(line); strings.HasPrefix(bare, "::") {
			lines[i] = strings.Replace(line, "::", ": :", 1)
		}
	}
	return strings.Join(lines, "\n")
}
