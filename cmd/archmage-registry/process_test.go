package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// beRegistry makes this test binary the command.
const beRegistry = "ARCHMAGE_REGISTRY_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(beRegistry) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// patience is how long a process may take for what tests wait for.
const patience = time.Minute

// process is the command in a process of its own, with what it logged so far.
type process struct {
	cmd   *exec.Cmd
	host  string
	lines chan string // of its log, closed at its end
	mu    sync.Mutex
	log   strings.Builder
}

func startProcess(t *testing.T, dir string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	p := &process{
		cmd:   exec.CommandContext(ctx, os.Args[0], "--dir", dir, "--listen", "127.0.0.1:0"),
		lines: make(chan string, 1<<16),
	}
	p.cmd.Env = append(os.Environ(), beRegistry+"=1")
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(stderr)
	if _, err := fmt.Fscanln(stdout, &p.host); err != nil {
		for range p.lines { // the end of its log
		}
		t.Fatalf("%v, %v\n%s", err, p.cmd.Wait(), p.logged())
	}
	return p
}

func (p *process) read(stderr io.Reader) {
	defer close(p.lines)
	for s := bufio.NewScanner(stderr); s.Scan(); {
		p.mu.Lock()
		p.log.WriteString(s.Text() + "\n")
		p.mu.Unlock()
		p.lines <- s.Text()
	}
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// wait returns how the process ended, once all of its log was read.
func (p *process) wait() error {
	for range p.lines {
	}
	return p.cmd.Wait()
}
