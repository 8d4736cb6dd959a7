//go:build engines

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/archmage-go/archmage/build/registry/faulty"
)

// tmux is a server of its own with one window.
type tmux struct {
	t      *testing.T
	socket string
}

func (x tmux) run(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", x.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// screen is what the window shows, scrolled out lines first. Lines that the
// terminal broke are one.
func (x tmux) screen() string {
	x.t.Helper()
	return strings.TrimRight(x.run("capture-pane", "-p", "-J", "-S", "-"), " \n") + "\n"
}

func (x tmux) until(right func(string) bool) {
	x.t.Helper()
	for end := time.Now().Add(time.Minute); !right(x.screen()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			x.t.Fatalf("the window stays at\n%s", x.screen())
		}
	}
}

// TestEnginesTmux resizes a terminal that breaks its lines anew, as those of
// people do, while live lines are on it, which are longer than it is wide. It is
// full of others: where lines that grow push live ones out at the top of a
// window that has nothing else, they are out of reach.
func TestEnginesTmux(t *testing.T) {
	held := make(chan struct{})
	_, host, closeProxy := faulty.Serve(store(t, buildStore(t)), faulty.Plan{OnWrite: func(w faulty.Write) {
		if w.N >= 2 {
			<-held
		}
	}})
	defer closeProxy()
	cmd := newCheckout(t, host+"/tmux", 2).command("archmage", []string{"image", "--push", "--version=v1.0.0"})
	x := tmux{t, fmt.Sprintf("archmage-%d", os.Getpid())}
	line := []string{"new-session", "-d", "-x", "100", "-y", "24", "-c", cmd.Dir, "env", "-i", "TERM=screen"}
	script := `seq 40; ` + cmd.Path + ` "$@"; echo "exit code $?"; read -r _`
	x.run(append(append(line, cmd.Env...), "sh", "-c", script, "archmage", "image", "--push", "--version=v1.0.0")...)
	defer x.run("kill-server")

	live := func(text string) bool { return strings.Contains(text, "\npush ") || strings.HasPrefix(text, "push ") }
	x.until(live)
	for _, size := range [][2]string{{"40", "24"}, {"20", "24"}, {"100", "24"}, {"30", "10"}, {"100", "24"}} {
		x.run("resize-window", "-x", size[0], "-y", size[1])
		x.until(func(text string) bool {
			lines := strings.Split(strings.TrimSpace(text), "\n")
			return strings.Count(text, " legs") <= 1 && strings.HasPrefix(lines[len(lines)-1], "0/") && (size[0] != "100" || live(text))
		})
	}
	close(held)
	x.until(func(text string) bool { return strings.Contains(text, "exit code ") })
	text := x.screen()
	if !strings.HasSuffix(text, "\nexit code 0\n") || live(text) || strings.Contains(text, " legs") || strings.Contains(text, "more\n") {
		t.Errorf("left:\n%s", text)
	}
	if n := strings.Count(text, "  pushed\n"); n < 2*len(faulty.Images) || strings.Count(text, "\n"+host+"/") != n {
		t.Errorf("%d rows, and results\n%s", n, text)
	}
}
