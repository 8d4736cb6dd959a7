package console

import (
	"bytes"
	"sync"
)

// Prefixed passes what a program writes on to the console, line by line, each
// behind a prefix that says whose it is, and remembers the last ones. Lines of
// several programs never interleave. On a terminal a task's line shows the last
// one, and nothing else does.
type Prefixed struct {
	r    *Running
	keep int

	mu   sync.Mutex
	part []byte
	last []string
}

// Log returns a writer for what a program says that does r, and keeps the last
// keep lines.
func (r *Running) Log(keep int) *Prefixed { return &Prefixed{r: r, keep: keep} }

// Write implements io.Writer. A line without an end waits for it, or for Close.
func (p *Prefixed) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.part = append(p.part, data...)
	for {
		line, rest, found := bytes.Cut(p.part, []byte("\n"))
		if !found {
			return len(data), nil
		}
		p.line(string(line))
		p.part = rest
	}
}

// Close writes what has no end yet.
func (p *Prefixed) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.part) > 0 {
		p.line(string(p.part))
		p.part = nil
	}
	return nil
}

// Last are the last lines, oldest first.
func (p *Prefixed) Last() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *Prefixed) line(text string) {
	text = printable(string(bytes.TrimRight([]byte(text), "\r")))
	p.r.say(text)
	p.last = append(p.last, text)
	if len(p.last) > p.keep {
		p.last = p.last[1:]
	}
}

// say shows one line of a program.
func (r *Running) say(text string) {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	subject := r.task.Subject
	switch {
	case r.c.quiet:
	case r.c.mode == tty:
		r.said = text
	case r.c.mode == jsonLines:
		r.c.write(event{Verb: r.task.Verb, Subject: &subject, Phase: r.task.Phase, Engine: r.task.Engine, State: stateOutput, Message: text})
	default:
		r.c.above(subject.String() + " | " + text + "\n")
	}
}
