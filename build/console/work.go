package console

import (
	"slices"
	"strings"
	"time"
)

// work is what a verb has begun and ended since the last [Console.Settle].
type work struct {
	nouns    string
	expected []Subject
	width    int        // of the widest of them
	running  []*Running // in the order of their beginning
	ended    []Outcome
	began    time.Time
}

// Outcome is what became of one leg or one binary.
type Outcome struct {
	Verb    string
	Subject Subject
	Engine  string
	State   string // in a word or two, e.g. pushed, unchanged
	Digest  string
	Path    string
	Size    int64         // bytes
	Time    time.Duration // that it took; 0 is not shown
	Err     error         // why it failed; State is not read then
}

// Expect tells what is going to be begun, in the order of the plan, and what they
// are called.
func (c *Console) Expect(nouns string, subjects []Subject) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work = work{nouns: nouns, expected: subjects, running: c.work.running, began: c.now()}
	for _, s := range subjects {
		c.work.width = max(c.work.width, width(s.String()))
	}
	c.animate()
}

// Done tells what became of one of them. Why it failed is not said here: errors
// are, when all are known.
func (c *Console) Done(o Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.Err != nil {
		o.State = stateFailed
	}
	c.work.ended = append(c.work.ended, o)
	switch {
	case c.quiet || c.mode == tty:
	case c.mode == jsonLines:
		c.write(o.event())
	case o.Err == nil:
		c.above(c.eventLine(o.Verb, o.Subject.String(), o.detail()) + "\n")
	}
}

func (o Outcome) event() event {
	e := event{
		Verb: o.Verb, Subject: &o.Subject, State: o.State, Engine: o.Engine,
		Digest: o.Digest, Path: o.Path, Size: o.Size, Seconds: o.Time.Seconds(),
	}
	if o.Err != nil {
		all := messages(o.Err)
		e.Error, e.Hint = all[0].text, all[0].hint
	}
	return e
}

func (o Outcome) detail() string {
	words := []string{o.State}
	for _, word := range []string{o.Path, o.Digest, duration(o.Time)} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.Round(10 * time.Millisecond).String()
}

// Settle ends live lines. On a terminal a table says what became of everything,
// in the order in which it was expected.
func (c *Console) Settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.still()
	w := c.work
	c.work = work{running: w.running}
	if c.mode == tty && !c.quiet && len(w.ended) > 0 {
		columns, _ := c.size()
		c.above(c.table(w.sorted(), columns-1))
	}
}

func (w work) sorted() []Outcome {
	slices.SortStableFunc(w.ended, func(a, b Outcome) int {
		return slices.Index(w.expected, a.Subject) - slices.Index(w.expected, b.Subject)
	})
	return w.ended
}

// Close leaves the terminal clean. It is for the end of the program, a panic
// too: nothing is drawn after it.
func (c *Console) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.still()
	c.live.closed = true
}
