//go:build engines

package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"
)

// byHand runs the command that the last program printed as the one to repeat by
// hand, in a shell, as a user who pastes it. It must fail, and its output can be
// matched afterwards. usage: byhand
func byHand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: byhand")
	}
	found := regexp.MustCompile(`to repeat it by hand: (.*)`).FindStringSubmatch(ts.ReadFile("stderr"))
	if found == nil {
		ts.Fatalf("no command to repeat by hand")
	}
	if err := ts.Exec("sh", "-c", found[1]); err == nil {
		ts.Fatalf("it succeeds: %s", found[1])
	}
}

// patience is how long an interrupted program may take to end, in scripts.
const patience = 10 * time.Second

// interrupt runs a program until it has written TEXT to stderr. Then INT does
// what Ctrl-C does: everything in the foreground gets the signal. TERM goes to
// the program alone, as a CI runner sends it. The program must exit with 130
// within seconds, and nothing that it started may remain after a few more.
// usage: interrupt INT|TERM TEXT PROGRAM [ARG…]
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || args[0] != "INT" && args[0] != "TERM" {
		ts.Fatalf("usage: interrupt INT|TERM TEXT PROGRAM [ARG…]")
	}
	alone, args := args[0] == "TERM", args[1:]
	ts.Check(ts.Exec("sh", "-c", "exec /usr/bin/env"))
	mark := "INTERRUPTED_BY=" + filepath.Base(ts.Getenv("WORK"))
	cmd := exec.Command(filepath.Join(ts.Getenv("ARCHMAGE"), args[1]), args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n"), mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said := &watcher{text: args[0], seen: make(chan struct{})}
	cmd.Stderr = said
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-said.seen:
	case err := <-ended:
		ts.Fatalf("it ended before it could be interrupted: %v\n%s", err, said)
	case <-time.After(time.Minute):
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		ts.Fatalf("it never said %q:\n%s", args[0], said)
	}
	if alone {
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	} else {
		ts.Check(syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
	}
	select {
	case <-ended:
	case <-time.After(patience):
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		ts.Fatalf("it still runs %s after the interrupt:\n%s", patience, said)
	}
	ts.Logf("%s", said)
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		ts.Fatalf("it exited with %d, want 130", code)
	}
	untilGone(ts, "environ", mark)
}

// nowhere waits until no process of this machine has TEXT in its command line;
// what runs in a container is one too. usage: nowhere TEXT
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nowhere TEXT")
	}
	untilGone(ts, "cmdline", args[0])
}

// untilGone waits until no process has text in that file of its /proc.
func untilGone(ts *testscript.TestScript, file, text string) {
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		left := processes(file, text)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("still running: %q", left)
		}
	}
}

// processes are the command lines of those whose file of /proc has text.
func processes(file, text string) []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !bytes.Contains(data, []byte(text)) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

// watcher keeps what is written, and tells when a text was.
type watcher struct {
	text string
	seen chan struct{}
	once sync.Once
	mu   sync.Mutex
	all  bytes.Buffer
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.Write(p)
	if strings.Contains(w.all.String(), w.text) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

// guard fails when a text is anywhere in an image: its config, manifest, or a
// file of any layer. usage: guard REF TEXT
func guard(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: guard REF TEXT")
	}
	img := readImage(ts, args[0])
	config, err := img.RawConfigFile()
	ts.Check(err)
	manifest, err := img.RawManifest()
	ts.Check(err)
	layers, err := img.Layers()
	ts.Check(err)
	all := slices.Concat(config, manifest)
	for _, l := range layers {
		r, err := l.Uncompressed()
		ts.Check(err)
		var data bytes.Buffer
		_, err = data.ReadFrom(r)
		ts.Check(errors.Join(err, r.Close()))
		all = append(all, data.Bytes()...)
	}
	if bytes.Contains(all, []byte(args[1])) {
		ts.Fatalf("%s holds %q", args[0], args[1])
	}
}

// refusing starts a registry in process that takes images but answers 400 to
// everything about a tag, and sets NAME to its host:port.
// usage: refusing NAME TAG
func refusing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: refusing NAME TAG")
	}
	images := registry.New(registry.Logger(discard))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/manifests/"+args[1]) {
			http.Error(w, `{"errors":[{"code":"MANIFEST_INVALID","message":"no such things here"}]}`, http.StatusBadRequest)
			return
		}
		images.ServeHTTP(w, r)
	}))
	ts.Defer(s.Close)
	ts.Setenv(args[0], strings.TrimPrefix(s.URL, "http://"))
}
