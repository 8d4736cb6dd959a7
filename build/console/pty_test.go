package console

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// window is an emulator at the other end of a terminal of the system's.
type window struct {
	screen
	mu      sync.Mutex
	changed chan struct{}
	master  *os.File
	tty     *os.File
	done    chan struct{}
}

func newWindow(t *testing.T, columns, rows int) *window {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no terminal to try:", err)
	}
	w := &window{
		screen:  screen{Emulator: vt.NewEmulator(columns, rows), t: t},
		changed: make(chan struct{}, 1), done: make(chan struct{}), master: master, tty: slave,
	}
	w.resize(columns, rows)
	go w.read()
	t.Cleanup(func() { _, _ = slave.Close(), master.Close() })
	return w
}

// read shows what is written, until nobody has the terminal open.
func (w *window) read() {
	defer close(w.done)
	data := make([]byte, 4096)
	for {
		n, err := w.master.Read(data)
		w.mu.Lock()
		_, _ = w.Emulator.Write(data[:n])
		w.mu.Unlock()
		select {
		case w.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (w *window) resize(columns, rows int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Resize(columns, rows)
	if err := pty.Setsize(w.master, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		w.t.Fatal(err)
	}
}

// until waits for the screen to be as a function wants it.
func (w *window) until(right func(text string) bool) string {
	for {
		w.mu.Lock()
		text := w.text()
		w.mu.Unlock()
		if right(text) {
			return text
		}
		select {
		case <-w.changed:
		case <-w.done:
			w.t.Fatalf("the terminal ended with\n%s", text)
		case <-w.t.Context().Done():
			w.t.Fatalf("the terminal stays at\n%s", text)
		}
	}
}

// TestOnATerminal has a real one: its size is asked for, and lines draw themselves.
func TestOnATerminal(t *testing.T) {
	t.Setenv("CI", "")
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	w := newWindow(t, 70, 12)
	c := New(w.tty, w.tty)
	if err := c.Configure(Options{}); err != nil || !c.color {
		t.Fatal(err, c.color)
	}
	all := legs(2)
	c.Expect("legs", all)
	var running []*Running
	for _, leg := range all {
		r := c.Begin(Task{Subject: leg, Phase: "build"})
		fmt.Fprintln(r.Log(1), strings.Repeat("word ", 30))
		running = append(running, r)
	}
	w.until(func(text string) bool {
		return strings.Count(text, "…\n") == 2
	})
	w.resize(30, 12)
	w.until(func(text string) bool {
		lines := strings.Split(text, "\n")
		return len(lines) == 4 && strings.HasPrefix(lines[0], "build app0 linux/amd64 ") && strings.HasSuffix(lines[0], "…")
	})
	c.Result("first result")
	running[0].End()
	w.until(func(text string) bool { return strings.HasPrefix(text, "first result\nbuild app0 linux/arm64") })
	running[1].End()
	c.Done(pushed(all[0]))
	c.Settle()
	c.Result("second result")
	if err := w.tty.Close(); err != nil {
		t.Fatal(err)
	}
	<-w.done
	w.shows("first result\nimage  platform\napp0   linux/amd64  pushed\nsecond result\n")
	if w.CursorHidden() || w.CursorPosition().X != 0 {
		t.Errorf("the cursor is at %v", w.CursorPosition())
	}
}

func TestHowEventsAreShown(t *testing.T) {
	w := newWindow(t, 80, 24)
	for _, tt := range []struct {
		progress, ci, term string
		out                io.Writer
		want               mode
		err                bool
	}{
		{"", "", "xterm", w.tty, tty, false},
		{"auto", "", "xterm", w.tty, tty, false},
		{"auto", "false", "xterm", w.tty, tty, false},
		{"auto", "true", "xterm", w.tty, plain, false},
		{"auto", "1", "xterm", w.tty, plain, false},
		{"auto", "", "dumb", w.tty, plain, false},
		{"auto", "", "xterm", &bytes.Buffer{}, plain, false},
		{"plain", "", "xterm", w.tty, plain, false},
		{"json", "", "xterm", w.tty, jsonLines, false},
		{"tty", "true", "xterm", w.tty, tty, false},
		{"tty", "", "xterm", &bytes.Buffer{}, plain, true},
	} {
		t.Setenv("CI", tt.ci)
		t.Setenv("TERM", tt.term)
		c := New(nil, tt.out)
		if err := c.Configure(Options{Progress: tt.progress}); (err != nil) != tt.err || c.mode != tt.want {
			t.Errorf("%+v: %v, %v", tt, c.mode, err)
		}
	}
}
