package console

import (
	"bytes"
	"sync"
)

// Prefixed passes what a program writes on to the console, line by line, each
// behind a prefix that says whose it is, and remembers the last ones. Lines of
// several programs never interleave.
type Prefixed struct {
	c      *Console
	prefix string
	keep   int

	mu   sync.Mutex
	part []byte
	last []string
}

// Prefix returns a writer that keeps the last keep lines.
func (c *Console) Prefix(prefix string, keep int) *Prefixed {
	return &Prefixed{c: c, prefix: prefix, keep: keep}
}

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
	p.c.line(p.prefix + " | " + text)
	p.last = append(p.last, text)
	if len(p.last) > p.keep {
		p.last = p.last[1:]
	}
}
