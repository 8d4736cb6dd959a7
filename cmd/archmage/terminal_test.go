package main

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"github.com/archmage-go/archmage/build/registry/faulty"
)

// onTerminal is a process with a terminal of its own, and what that shows.
type onTerminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	ended  chan struct{}

	mu      sync.Mutex
	shown   *sync.Cond
	over    bool
	written bytes.Buffer
	*vt.Emulator
}

func startOnTerminal(t *testing.T, cmd *exec.Cmd, columns, rows int) *onTerminal {
	t.Helper()
	cmd.Env = append(cmd.Env, "TERM=xterm")
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)})
	if err != nil {
		t.Skip("no terminal to try:", err)
	}
	o := &onTerminal{t: t, cmd: cmd, master: master, ended: make(chan struct{}), Emulator: vt.NewEmulator(columns, rows)}
	o.shown = sync.NewCond(&o.mu)
	go o.read()
	return o
}

func (o *onTerminal) read() {
	defer close(o.ended)
	data := make([]byte, 4096)
	for {
		n, err := o.master.Read(data) // fails when the last process that has it is gone
		o.mu.Lock()
		o.written.Write(data[:n])
		_, _ = o.Emulator.Write(data[:n])
		o.over = err != nil
		o.shown.Broadcast()
		o.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// until waits for a text to be shown.
func (o *onTerminal) until(text string) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for !strings.Contains(o.String(), text) {
		if o.over {
			o.t.Fatalf("%q is never shown, but\n%s", text, o.String())
		}
		o.shown.Wait()
	}
}

// end waits for the process and returns its exit code and what is left on the
// screen.
func (o *onTerminal) end() (code int, lines []string) {
	_ = o.cmd.Wait()
	<-o.ended
	_ = o.master.Close()
	for line := range strings.Lines(strings.TrimRight(o.String(), " \r\n")) {
		lines = append(lines, strings.TrimRight(line, " \r\n"))
	}
	if at := o.CursorPosition(); at.X != 0 || at.Y != len(lines) || o.CursorHidden() || bytes.Contains(o.written.Bytes(), []byte("\x1b[?25l")) {
		o.t.Errorf("the cursor is left at %v, hidden: %v", at, o.CursorHidden())
	}
	return o.cmd.ProcessState.ExitCode(), lines
}

// TestATerminalIsLeftClean builds and publishes on a terminal, and interrupts
// that the way people do.
func TestATerminalIsLeftClean(t *testing.T) {
	up := store(t, buildStore(t))
	c := newCheckout(t, up.Host+"/terminal", 2)
	o := startOnTerminal(t, c.command("archmage", []string{"image", "--push", "--version=v1.0.0"}), 120, 40)
	code, lines := o.end()
	text := strings.Join(lines, "\n")
	if code != 0 || strings.Contains(text, "legs") || !strings.Contains(text, "image") || strings.Count(text, "  pushed\n") < len(faulty.Images) {
		t.Errorf("exit code %d\n%s", code, text)
	}
	var table, results int
	for i, line := range lines {
		if strings.HasPrefix(line, "image ") && table == 0 {
			table = i + 1
		}
		if strings.HasPrefix(line, up.Host) && results == 0 {
			results = i + 1
		}
	}
	if table == 0 || results < table {
		t.Errorf("the table is in line %d, results from line %d on\n%s", table, results, text)
	}
}

func TestCtrlCLeavesACleanTerminal(t *testing.T) {
	interruptOnTerminal(t, store(t, buildStore(t)))
}

func interruptOnTerminal(t *testing.T, up *url.URL) {
	dead := make(chan struct{})
	_, host, closeProxy := faulty.Serve(up, faulty.Plan{OnWrite: func(w faulty.Write) {
		if w.N >= 2 {
			<-dead
		}
	}})
	defer closeProxy()
	c := newCheckout(t, host+"/ctrlc", 2)
	o := startOnTerminal(t, c.command("archmage", []string{"image", "--push", "--version=v1.0.0"}), 100, 30)
	o.until("\npush ")
	if _, err := o.master.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	_ = o.cmd.Wait()
	close(dead)
	code, lines := o.end()
	last := ""
	if len(lines) > 0 {
		last = lines[len(lines)-1]
	}
	text := strings.Join(lines, "\n")
	if code != 130 || last != "archmage: interrupted" || strings.Contains(text, "\npush ") || strings.Contains(text, "legs") || strings.Contains(text, "^C") {
		t.Errorf("exit code %d\n%s", code, text)
	}
}
