// Package console is how archmage speaks. The rules:
//
//   - stdout carries results alone: references, paths, JSON. It can be piped.
//   - stderr carries everything else, in one of three ways. Plain: one line per
//     event, final when written, without control characters. On a terminal: what
//     runs has a line each that is drawn anew, below everything that is final,
//     and what is done a row of a table. As JSON: one event a line.
//   - An error is one line, `archmage: verb subject: cause`; its hint, what to
//     do, is a line of its own.
//   - Colour only marks what a line is, only on a terminal, never with NO_COLOR
//     or in CI.
//   - Quiet leaves results, warnings and errors.
package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// Console writes results and events. Its methods may be called concurrently;
// lines never interleave.
type Console struct {
	mu       sync.Mutex
	out, err io.Writer
	color    bool // of what goes to err
	colorOut bool
	mode     mode
	quiet    bool

	work work // what runs, and what became of it
	live live
	size func() (columns, rows int) // of the terminal
	now  func() time.Time
}

// mode is how events are shown.
type mode int

const (
	plain mode = iota
	tty
	jsonLines
)

// Options say how a run speaks.
type Options struct {
	Progress string // auto, plain, tty or json; "" is auto: tty on a terminal outside of CI
	Quiet    bool   // results, warnings and errors alone
}

// New returns a console on out and err that writes plain lines until
// [Console.Configure]. Colour is used on each that is a terminal where the
// environment has no NO_COLOR, no TERM=dumb and no CI=true.
func New(out, err io.Writer) *Console {
	allowed := os.Getenv("NO_COLOR") == "" && !dumb()
	return &Console{
		out: out, err: err, color: allowed && terminal(err), colorOut: allowed && terminal(out),
		size: func() (int, int) { return sizeOf(err) }, now: time.Now,
	}
}

// Std is the console on the process's stdout and stderr.
func Std() *Console { return New(os.Stdout, os.Stderr) }

// dumb reports whether the environment says that nobody watches, or that the
// terminal can do nothing. CI systems that set CI set it to true.
func dumb() bool {
	ci := strings.ToLower(os.Getenv("CI"))
	return os.Getenv("TERM") == "dumb" || ci != "" && ci != "false" && ci != "0"
}

func terminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// Configure says how to go on. Live lines that are wanted where stderr is no
// terminal are an error, and the console stays as it is.
func (c *Console) Configure(o Options) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	mode := plain
	switch o.Progress {
	case "json":
		mode = jsonLines
	case "tty":
		if mode = tty; !terminal(c.err) {
			return errors.New("stderr is no terminal")
		}
	case "", "auto":
		if terminal(c.err) && !dumb() {
			mode = tty
		}
	}
	c.mode, c.quiet = mode, o.Quiet
	return nil
}

// Result writes one line of the result to stdout.
func (c *Console) Result(line string) { _, _ = c.Write([]byte(line + "\n")) }

// Write hands data to stdout as it is: whole lines, which live ones make way for.
func (c *Console) Write(data []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
	n, err := c.out.Write(data)
	c.draw()
	return n, err
}

// Would writes one line of what a dry run would do to stdout: it is the result of
// a dry run.
func (c *Console) Would(do, what string) {
	c.Result(padded(do, 8) + " " + printable(what))
}

// Event says that something is done: what was done (one word, a verb of the
// CLI), to what, and how it ended.
func (c *Console) Event(verb, subject, detail string) {
	c.say(event{Verb: verb, Subject: &Subject{Name: subject}, State: stateDone, Message: detail}, func() string {
		return c.eventLine(verb, subject, detail)
	})
}

func (c *Console) eventLine(verb, subject, detail string) string {
	text := printable(padded(subject, 34) + " " + detail)
	return strings.TrimRight(c.paint(padded(verb, 8), color.FgCyan)+" "+text, " ")
}

// Note tells what the user may want to know and need not act on.
func (c *Console) Note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.say(event{State: stateNote, Message: text}, func() string {
		return c.paint("note:", color.FgBlue) + " " + printable(text)
	})
}

// Warn tells what may be wrong.
func (c *Console) Warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.say(event{State: stateWarning, Message: text, always: true}, func() string {
		return c.paint("warning:", color.FgYellow) + " " + printable(text)
	})
}

// Lines writes text as it is, e.g. a finding with its source excerpt.
func (c *Console) Lines(lines string) {
	c.say(event{State: stateOutput, Message: lines, always: true}, func() string { return printable(lines) })
}

// Commands writes workflow commands, which GitHub's runner carries out: lines
// whose content is escaped already. As JSON there are none.
func (c *Console) Commands(lines string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mode != jsonLines {
		c.above(lines)
	}
}

// Error writes every error that was joined into err, in order and each once,
// with its hint.
func (c *Console) Error(err error) {
	for _, m := range messages(err) {
		c.say(event{State: stateError, Error: m.text, Hint: m.hint, always: true}, func() string {
			text := c.paint("archmage:", color.FgRed) + " " + m.text
			if m.hint != "" {
				text += "\n  " + c.paint("hint:", color.FgGreen) + " " + m.hint
			}
			return text
		})
	}
}

// say writes an event, as JSON or as the line that it is for people.
func (c *Console) say(e event, line func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.quiet && !e.always:
	case c.mode == jsonLines:
		c.write(e)
	default:
		c.above(line() + "\n")
	}
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
