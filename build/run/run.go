// Package run starts other programs. Nothing else in archmage does: a test
// holds that os/exec is imported here alone, so that every side effect of that
// kind can be listed, faked and cancelled in one place.
package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Cmd is one program to start.
type Cmd struct {
	Name string   // looked up on PATH, unless it holds a slash
	Args []string // handed over as they are: no shell, no expansion
	Dir  string   // working directory; "" is the caller's
	Env  []string // KEY=value added to, or replacing, the caller's environment

	// Default is KEY=value for what neither Env nor the caller's environment sets.
	Default []string

	// Without reports the names of the caller's variables that the program does
	// not get. nil: it gets all.
	Without func(name string) bool

	Stdin          io.Reader
	Stdout, Stderr io.Writer // nil discards

	// Group is for a program that starts others and does not pass an interrupt
	// on to them, as docker 20.10 does with its plugins: all of them are
	// interrupted and killed with it. They cannot read from the terminal.
	Group bool

	// Reads says that the program changes nothing that anybody would miss, so
	// that a dry run starts it too, to learn what the run would learn.
	Reads bool
}

// Shell is the command as one would type it into a POSIX shell in the directory
// from, with Dir and Env.
func (c Cmd) Shell(from string) string {
	var text strings.Builder
	if c.Dir != "" && filepath.Clean(c.Dir) != filepath.Clean(from) {
		text.WriteString("cd " + quote(c.Dir) + " && ")
	}
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		text.WriteString(name + "=" + quoteValue(value) + " ")
	}
	return text.String() + c.String()
}

// quoteValue is quote for what follows a =, where nothing is a value too.
func quoteValue(w string) string {
	if w == "" {
		return ""
	}
	return quote(w)
}

// String is the command as one would type it into a POSIX shell, without Dir
// and environment. It is for people: nothing executes it.
func (c Cmd) String() string {
	words := make([]string, 0, 1+len(c.Args))
	for _, w := range append([]string{c.Name}, c.Args...) {
		words = append(words, quote(w))
	}
	return strings.Join(words, " ")
}

func quote(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n\"'`$&|;<>()*?[]#~!{}\\") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// Runner starts a program and waits for it. [OS] does; tests record.
type Runner interface {
	// Run returns nil when the program exits with 0, an *[ExitError] when it
	// exits otherwise, and ctx's error when ctx ended it.
	Run(ctx context.Context, c Cmd) error
	// Find reports the path of the program that Run would start for name.
	Find(name string) (string, error)
}

// ExitError says that a program ran and did not exit with 0.
type ExitError struct {
	Name string
	Code int // -1 when a signal ended it
}

func (e *ExitError) Error() string {
	if e.Code < 0 {
		return e.Name + ": ended by a signal"
	}
	return fmt.Sprintf("%s: exit status %d", e.Name, e.Code)
}

// OS runs programs on this machine.
type OS struct{}

// killDelay is how long an interrupted child may take to clean up.
const killDelay = 2 * time.Second

// Run implements [Runner]. When ctx ends, the program gets an interrupt first,
// so that it can clean up, and is killed two seconds later.
func (OS) Run(ctx context.Context, c Cmd) error {
	cmd := exec.CommandContext(ctx, c.Name, c.Args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, c.Stdin, c.Stdout, c.Stderr
	cmd.Env = unset(c.Default, environ(withheld(os.Environ(), c.Without), c.Env, c.Dir))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killDelay
	if c.Group {
		ownGroup(cmd)
	}
	err := cmd.Run()
	if c.Group && ctx.Err() != nil {
		killGroup(cmd)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit):
		return &ExitError{Name: c.Name, Code: exit.ExitCode()}
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s: not found on PATH", c.Name)
	}
	return fmt.Errorf("%s: %w", c.Name, err)
}

// Find implements [Runner].
func (OS) Find(name string) (string, error) { return exec.LookPath(name) }

// withheld is env less the variables that without names.
func withheld(env []string, without func(string) bool) []string {
	if without == nil {
		return env
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return without(variable(kv)) })
}

// variable is the name in KEY=value.
func variable(kv string) string { k, _, _ := strings.Cut(kv, "="); return k }

// unset is env with those of defaults that it does not set.
func unset(defaults, env []string) []string {
	for _, kv := range defaults {
		if !slices.ContainsFunc(env, func(have string) bool { return variable(have) == variable(kv) }) {
			env = append(env, kv)
		}
	}
	return env
}

// environ is base with the entries of add replacing those of the same name.
// PWD follows dir: the go command and git resolve symlinks by it.
func environ(base, add []string, dir string) []string {
	if abs, err := filepath.Abs(dir); dir != "" && err == nil {
		add = append([]string{"PWD=" + abs}, add...)
	}
	set := map[string]bool{}
	for _, kv := range add {
		set[variable(kv)] = true
	}
	env := slices.DeleteFunc(slices.Clone(base), func(kv string) bool { return set[variable(kv)] })
	return append(env, add...)
}

// Output runs c and returns what it wrote to stdout. When it fails, the error
// carries the trimmed stderr, which is where programs say why.
func Output(ctx context.Context, r Runner, c Cmd) ([]byte, error) {
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	if err := r.Run(ctx, c); err != nil {
		if said := strings.TrimSpace(errOut.String()); said != "" && ctx.Err() == nil {
			return nil, fmt.Errorf("%w: %s", err, said)
		}
		return nil, err
	}
	return out.Bytes(), nil
}
