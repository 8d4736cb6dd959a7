package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// live is what is on the terminal below everything that is final.
//
// The cursor waits at the beginning of the first live line. A terminal that is
// made narrower breaks lines anew, some terminals, and others cut them; either
// way the cursor stays with its line, so clearing from there to the end of the
// screen takes away exactly what is live. Counting lines upwards, from below
// them, would take away what is final too, or leave some. (Out of reach is what
// tmux pushes out at the top of a window that holds live lines alone, when
// lines that it breaks anew become more than there is room for.) The cursor is
// never hidden: nothing has to be put right after a kill.
type live struct {
	stop          chan struct{} // ends the drawing; nil where there is none
	closed        bool          // for good
	shown         string        // the frame on the screen; "" is none
	columns, rows int           // of the terminal then
}

// The control sequences in use (ECMA-48; DECAWM of the VT100).
const (
	toMargin  = "\r"
	clearLine = "\x1b[K" // from the cursor
	clearDown = "\x1b[J"
	wrapOff   = "\x1b[?7l" // a width that terminal and library see differently must not make a line two
	wrapOn    = "\x1b[?7h"
)

// redraw is how often live lines are drawn. The size of the terminal is asked
// for each time, so a change of it lasts no longer.
const redraw = 100 * time.Millisecond

func sizeOf(w io.Writer) (columns, rows int) {
	if f, isFile := w.(*os.File); isFile {
		columns, rows, _ = term.GetSize(int(f.Fd()))
	}
	if columns <= 0 || rows <= 0 { // serial lines do not know
		return 80, 24
	}
	return columns, rows
}

// animate draws from now on. c.mu is held, as below.
func (c *Console) animate() {
	if c.mode != tty || c.quiet || c.live.closed || c.live.stop != nil {
		return
	}
	stop := make(chan struct{})
	c.live.stop = stop
	go func() {
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				c.mu.Lock()
				c.draw()
				c.mu.Unlock()
			}
		}
	}()
}

// still ends the drawing.
func (c *Console) still() {
	c.erase()
	if c.live.stop != nil {
		close(c.live.stop)
		c.live.stop = nil
	}
}

func (c *Console) erase() {
	if c.live.shown != "" {
		_, _ = io.WriteString(c.err, toMargin+clearDown)
		c.live.shown = ""
	}
}

// above writes final text, whole lines, above the live ones.
func (c *Console) above(text string) {
	before, after := "", ""
	if c.live.shown != "" {
		before, c.live.shown = toMargin+clearDown, ""
	}
	if c.live.stop != nil {
		c.live.shown = c.frame()
		after = c.live.shown
	}
	_, _ = io.WriteString(c.err, before+text+after)
}

// draw brings the live lines up to date.
func (c *Console) draw() {
	if c.live.stop == nil {
		return
	}
	before := c.live
	frame := c.frame()
	if frame == "" {
		c.erase()
		return
	}
	// A terminal of another size may have cut the lines, or broken them anew.
	if frame != before.shown || c.live.columns != before.columns || c.live.rows != before.rows {
		c.live.shown = frame
		_, _ = io.WriteString(c.err, frame)
	}
}

// frame is the live lines with the sequences that put them over the last ones
// and the cursor back.
func (c *Console) frame() string {
	c.live.columns, c.live.rows = c.size()
	lines := c.lines(max(1, c.live.columns-1), max(1, c.live.rows-1))
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(toMargin + wrapOff)
	for i, line := range lines {
		if i < len(lines)-1 {
			b.WriteString(clearLine + line + "\r\n")
		} else {
			b.WriteString(clearDown + line + toMargin)
		}
	}
	if len(lines) > 1 {
		fmt.Fprintf(&b, "\x1b[%dA", len(lines)-1)
	}
	return b.String() + wrapOn
}

// lines are up to rows lines of up to columns cells: one per task, and how far
// all of it is.
func (c *Console) lines(columns, rows int) []string {
	var list []string
	last := c.status()
	room := rows
	if last != "" {
		room--
	}
	shown := c.work.running
	if len(shown) > room {
		shown = shown[:max(0, room-1)]
	}
	pad := c.work.width // so that nothing moves sideways when a task ends
	for _, r := range shown {
		pad = max(pad, width(r.task.Subject.String()))
	}
	if columns < narrow {
		pad = 0
	}
	for _, r := range shown {
		list = append(list, c.colored(cut(r.line(c.now(), min(pad, columns/2)), columns), r.task.Phase))
	}
	if more := len(c.work.running) - len(shown); more > 0 && room > 0 {
		list = append(list, cut(fmt.Sprintf("… and %d more", more), columns))
	}
	if last != "" {
		list = append(list, cut(last, columns))
	}
	return list
}

// narrow is the number of columns below which nothing is aligned.
const narrow = 50

func (c *Console) colored(line, phase string) string {
	if !strings.HasPrefix(line, phase) {
		return line
	}
	return c.paint(phase, color.FgCyan) + line[len(phase):]
}

// line is what a task does.
func (r *Running) line(now time.Time, pad int) string {
	r.rate.step(now, r.bytes)
	text := r.task.Phase + " " + printable(r.task.Subject.String()) + " "
	if pad > 0 {
		text = padded(r.task.Phase, 8) + " " + padded(printable(r.task.Subject.String()), pad) + " "
	}
	took := now.Sub(r.began).Round(time.Second).String()
	text += padded(took, min(pad, 5))
	if r.bytes > 0 {
		text += " " + moved(r.bytes, r.total)
		if r.rate.value > 0 {
			text += " " + bytesOf(int64(r.rate.value)) + "/s"
		}
	}
	if r.said != "" {
		text += " " + r.said
	}
	return strings.TrimRight(text, " ")
}

// status is how far everything is.
func (c *Console) status() string {
	w := c.work
	if len(w.expected) == 0 {
		return ""
	}
	failed := 0
	for _, o := range w.ended {
		if o.Err != nil {
			failed++
		}
	}
	text := fmt.Sprintf("%d/%d %s", len(w.ended), len(w.expected), w.nouns)
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text + " " + c.now().Sub(w.began).Round(time.Second).String()
}
