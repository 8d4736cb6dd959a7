package console

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// screen is a terminal that both streams go to.
type screen struct {
	*vt.Emulator
	t testing.TB
	c *Console
}

// newScreen has a console on it, whose clock the test moves, and that draws
// when the test says so.
func newScreen(t testing.TB, columns, rows int) *screen {
	s := &screen{vt.NewEmulator(columns, rows), t, nil}
	s.c = &Console{out: s, err: s, mode: tty, size: func() (int, int) { return s.Width(), s.Height() }}
	now := time.Unix(0, 0)
	s.c.now = func() time.Time { return now }
	t.Cleanup(s.c.Close)
	return s
}

// Write does what a terminal's line discipline does: a line break is a carriage
// return too.
func (s *screen) Write(data []byte) (int, error) {
	if bytes.Contains(data, []byte("\x1b[?25l")) {
		s.t.Error("the cursor is hidden")
	}
	_, err := s.Emulator.Write(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
	return len(data), err
}

// WriteString is the emulator's otherwise.
func (s *screen) WriteString(text string) (int, error) { return s.Write([]byte(text)) }

func (s *screen) draw() {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.draw()
}

// text is everything on the screen, and what was scrolled out of it.
func (s *screen) text() string {
	var b strings.Builder
	for y := range s.ScrollbackLen() {
		var line strings.Builder
		for x := range s.Width() {
			if cell := s.ScrollbackCellAt(x, y); cell != nil && cell.Content != "" {
				line.WriteString(cell.Content)
			} else if cell == nil || cell.Width > 0 {
				line.WriteByte(' ')
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	for line := range strings.Lines(s.String()) {
		b.WriteString(strings.TrimRight(line, " \r\n") + "\n")
	}
	return strings.Trim(b.String(), "\n") + "\n"
}

func (s *screen) shows(want string) {
	s.t.Helper()
	want = strings.TrimLeft(want, "\n")
	if got := s.text(); got != want {
		s.t.Errorf("the screen shows\n%s\nnot\n%s", got, want)
	}
}

// legs are n subjects, on six platforms.
func legs(n int) []Subject {
	platforms := []string{"amd64", "arm64", "arm/v6", "arm/v7", "ppc64le", "s390x"}
	var list []Subject
	for i := range n {
		list = append(list, Subject{Image: fmt.Sprintf("app%d", i/6), Platform: "linux/" + platforms[i%6]})
	}
	return list
}

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func pushed(s Subject) Outcome {
	return Outcome{Verb: "image", Subject: s, Engine: "native", State: "pushed", Digest: digest, Size: 12_345_678, Time: 1200 * time.Millisecond}
}
