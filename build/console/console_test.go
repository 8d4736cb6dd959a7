package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// hinted is an error with a hint, and maybe a cause.
type hinted struct {
	text, hint string
	cause      error
}

func (h *hinted) Error() string { return h.text }
func (h *hinted) Hint() string  { return h.hint }
func (h *hinted) Unwrap() error { return h.cause }

// causes is one error with several causes, as registries' are.
type causes struct{ list []error }

func (c *causes) Error() string   { return "read x: denied" }
func (c *causes) Hint() string    { return "log in" }
func (c *causes) Unwrap() []error { return c.list }

func shown(err error) string {
	var out, errOut bytes.Buffer
	New(&out, &errOut).Error(err)
	if out.Len() > 0 {
		return "on stdout: " + out.String()
	}
	return errOut.String()
}

func TestErrorsAreALineEachWithTheirHint(t *testing.T) {
	plain, other := errors.New("verb subject: cause"), errors.New("second")
	withHint := &hinted{text: "a: b", hint: "do c"}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"plain", plain, "archmage: verb subject: cause\n"},
		{"hint", withHint, "archmage: a: b\n  hint: do c\n"},
		{"hint of the cause", fmt.Errorf("outer: %w", withHint), "archmage: outer: a: b\n  hint: do c\n"},
		{"the outer hint first", &hinted{"o", "outer", withHint}, "archmage: o\n  hint: outer\n"},
		{"an empty outer hint", &hinted{"o", "", withHint}, "archmage: o\n  hint: do c\n"},
		{"empty hints", &hinted{"o", "", &hinted{"i", "", nil}}, "archmage: o\n"},
		{"joined", errors.Join(plain, withHint, other), "archmage: verb subject: cause\narchmage: a: b\n  hint: do c\narchmage: second\n"},
		{"nested", errors.Join(errors.Join(plain, other), errors.Join(withHint)), "archmage: verb subject: cause\narchmage: second\narchmage: a: b\n  hint: do c\n"},
		{"each once", errors.Join(plain, withHint, plain, &hinted{text: "a: b", hint: "do c"}), "archmage: verb subject: cause\narchmage: a: b\n  hint: do c\n"},
		{"one error with several causes", &causes{[]error{plain, other}}, "archmage: read x: denied\n  hint: log in\n"},
		{"of fmt", fmt.Errorf("both: %w, %w", plain, other), "archmage: both: verb subject: cause, second\n"},
		{"several lines", errors.New("compile a:\nx.go:1: bad\n\n"), "archmage: compile a:\nx.go:1: bad\n"},
	} {
		if got := shown(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		want := strings.ReplaceAll(strings.TrimSuffix(c.want, "\n"), "archmage: ", "")
		if got := Text(c.err); got != want {
			t.Errorf("%s: as text %q, want %q", c.name, got, want)
		}
	}
}

func TestLeavesAreWhatWasJoined(t *testing.T) {
	a, b := errors.New("a"), context.Canceled
	several := &causes{[]error{a, b}}
	got := Leaves(errors.Join(errors.Join(a), several, errors.Join(b, nil)))
	if !slices.Equal(got, []error{a, several, b}) {
		t.Errorf("%v", got)
	}
	if got := Leaves(a); !slices.Equal(got, []error{a}) {
		t.Errorf("%v", got)
	}
}

// What a registry or a file says must not steer the terminal.
func TestControlCharactersAreHarmless(t *testing.T) {
	bad := "a\x1b[31mred\x07\r\x7f\u009b2J\tb"
	for name, got := range map[string]string{
		"error": shown(errors.New(bad)), "hint": shown(&hinted{text: "x", hint: bad}),
		"text": Text(&hinted{text: bad, hint: bad}),
	} {
		if strings.ContainsAny(got, "\x1b\x07\r\x7f\u009b") || !strings.Contains(got, "a?[31mred") || !strings.Contains(got, "\tb") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for bad, want := range map[string]string{
		"a\n::error::b":         "a\n: :error::b",
		"::error::b":            ": :error::b",
		"a\n \t::stop-commands": "a\n \t: :stop-commands",
		"a ##[error]b":          "a ## [error]b",
		"std::string::b":        "std::string::b",
		"a\u202eb\u2028c":       "a?b?c",
	} {
		if got := Text(errors.New(bad)); got != want {
			t.Errorf("%q: %q, want %q", bad, got, want)
		}
	}
	var errOut bytes.Buffer
	p := New(nil, &errOut).Begin(Task{Subject: Subject{Image: "app"}}).Log(2)
	fmt.Fprint(p, "one\r\ntw\x1b[2Jo\nthr")
	fmt.Fprint(p, "ee")
	if err := p.Close(); err != nil || errOut.String() != "app | one\napp | tw?[2Jo\napp | three\n" || !slices.Equal(p.Last(), []string{"tw?[2Jo", "three"}) {
		t.Errorf("%q, %q, %v", errOut.String(), p.Last(), err)
	}
}

func TestResultsAndEventsGoTheirOwnWays(t *testing.T) {
	var out, errOut bytes.Buffer
	c := New(&out, &errOut)
	c.Result("x@sha256:1")
	c.Event("image", "app linux/amd64", "written")
	c.Event("clean", "dist", "")
	c.Note("%d left", 2)
	c.Warn("careful")
	c.Lines("one\ntwo\n\n")
	if _, err := c.Write([]byte("raw")); err != nil || out.String() != "x@sha256:1\nraw" {
		t.Errorf("stdout %q, %v", out.String(), err)
	}
	lines := strings.Split(errOut.String(), "\n")
	want := []string{"^image +app linux/amd64 +written$", "^clean +dist$", "note: 2 left", "warning: careful", "one", "two", ""}
	if len(lines) != len(want) {
		t.Fatalf("%q", lines)
	}
	for i, line := range lines {
		words := strings.Fields(strings.NewReplacer("^", "", "$", "", " +", " ").Replace(want[i]))
		if !slices.Equal(strings.Fields(line), words) || strings.HasSuffix(line, " ") {
			t.Errorf("%q, want %s", line, want[i])
		}
	}
}

func TestLinesNeverInterleave(t *testing.T) {
	var errOut bytes.Buffer
	c := New(nil, &errOut)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			p := c.Begin(Task{Subject: Subject{Image: fmt.Sprint(i)}}).Log(1)
			for range 50 {
				fmt.Fprintf(p, "%s\n", strings.Repeat(fmt.Sprint(i), 40))
				c.Event(fmt.Sprint(i), fmt.Sprint(i), fmt.Sprint(i))
			}
		})
	}
	group.Wait()
	for line := range strings.Lines(errOut.String()) {
		if first := line[:1]; strings.Trim(line, first+" |\n") != "" {
			t.Fatalf("%q", line)
		}
	}
	if n := strings.Count(errOut.String(), "\n"); n != 800 {
		t.Errorf("%d lines", n)
	}
}

// Colour marks what a line is: on a terminal, unless NO_COLOR or TERM says no.
func TestColourOnTerminalsOnly(t *testing.T) {
	t.Setenv("CI", "")
	file, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if New(nil, file).color || New(nil, &bytes.Buffer{}).color {
		t.Error("a file is no terminal")
	}
	var errOut bytes.Buffer
	c := &Console{err: &errOut, color: true}
	c.Error(&hinted{text: "x", hint: "y"})
	c.Event("image", "a", "b")
	if got := errOut.String(); !strings.Contains(got, "\x1b[31marchmage:\x1b[0m x\n") || !strings.Contains(got, "hint:\x1b[0m y\n") || strings.Count(got, "\x1b[0m") != 3 {
		t.Errorf("%q", got)
	}
	pty := newWindow(t, 80, 24).tty
	for _, env := range []struct {
		noColor, term, ci string
		want              bool
	}{{"", "xterm", "", true}, {"1", "xterm", "", false}, {"", "dumb", "", false}, {"", "xterm", "true", false}} {
		t.Setenv("CI", env.ci)
		t.Setenv("NO_COLOR", env.noColor)
		t.Setenv("TERM", env.term)
		if got := New(file, pty); got.color != env.want || got.colorOut {
			t.Errorf("%+v: %+v", env, got)
		}
		c := New(pty, file)
		if c.color || c.colorOut != env.want || (c.Bad("x") != "x") != env.want || (c.Doubtful("x") == c.Bad("x")) == env.want {
			t.Errorf("%+v: %q", env, c.Bad("x"))
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"image", "plan", "manifest", "binaries", "clean", "compile", "verify", "version"}
	for word, want := range map[string]string{
		"imgae": "image", "imag": "image", "Plan": "plan clean", "manifes": "manifest", "complie": "compile", "ver": "verify version",
		"xyzzy": "", "": "", "push": "",
	} {
		if got := strings.Join(Nearest(word, known), " "); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	if got := Nearest("a", []string{"b", "c", "d", "e"}); len(got) != 3 {
		t.Errorf("%q", got)
	}
}
