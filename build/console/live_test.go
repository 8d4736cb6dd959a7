package console

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// begin begins a leg's task.
func (s *screen) begin(subject Subject, phase string) *Running {
	return s.c.Begin(Task{Verb: "image", Subject: subject, Phase: phase, Engine: "native"})
}

func TestWhatRunsHasALineAndWhatIsDoneARow(t *testing.T) {
	s := newScreen(t, 80, 10)
	all := legs(3)
	s.c.Event("verify", "2 images", "nothing found")
	s.c.Expect("legs", all)
	a, b := s.begin(all[0], "build"), s.begin(all[1], "push")
	fmt.Fprintln(a.Log(3), "#7 RUN make")
	b.Moved(1_500_000, 12_345_678)
	s.draw()
	s.shows(`
verify   2 images                           nothing found
build    app0 linux/amd64  0s    #7 RUN make
push     app0 linux/arm64  0s    1.5/12.3 MB
0/3 legs 0s
`)
	if at := s.CursorPosition(); at.X != 0 || at.Y != 1 {
		t.Errorf("the cursor waits at %v", at)
	}
	s.c.Done(Outcome{Verb: "image", Subject: all[1], Engine: "buildx", State: "unchanged", Digest: digest, Size: 999, Time: time.Second})
	b.End()
	s.c.Note("a note")
	a.Phase("push")
	s.draw()
	s.shows(`
verify   2 images                           nothing found
note: a note
push     app0 linux/amd64  0s
1/3 legs 0s
`)
	s.c.Done(pushed(all[0]))
	s.c.Done(Outcome{Subject: all[2], Engine: "native", Err: errors.New("x")})
	a.End()
	s.draw()
	s.c.Settle()
	s.c.Result("x@sha256:1")
	s.shows(`
verify   2 images                           nothing found
note: a note
image  platform      engine  size     digest               time
app0   linux/amd64   native  12.3 MB  sha256:0123456789ab  1.2s  pushed
app0   linux/arm64   buildx  999 B    sha256:0123456789ab  1s    unchanged
app0   linux/arm/v6  native  -        -                    -     failed
x@sha256:1
`)
}

// 200 legs on a few lines: those that run, how many more do, and a count.
func TestMoreRunsThanThereAreLines(t *testing.T) {
	s := newScreen(t, 60, 6)
	all := legs(200)
	s.c.Expect("legs", all)
	for i, leg := range all[:57] {
		o := pushed(leg)
		if i == 0 {
			o.Err = errors.New("x")
		}
		s.c.Done(o)
	}
	var running []*Running
	for _, leg := range all[57:89] {
		running = append(running, s.begin(leg, "build"))
	}
	s.draw()
	s.shows(`
build    app9 linux/arm/v7   0s
build    app9 linux/ppc64le  0s
build    app9 linux/s390x    0s
… and 29 more
57/200 legs, 1 failed 0s
`)
	for rows := 1; rows < 5; rows++ {
		s.Resize(60, rows)
		s.draw()
		if got := s.text(); !strings.HasSuffix(got, "57/200 legs, 1 failed 0s\n") || strings.Count(got, "\n") > max(1, rows-1) {
			t.Errorf("on %d lines: %q", rows, got)
		}
	}
	s.Resize(60, 40)
	s.draw()
	if got := s.text(); strings.Count(got, "\n") != 33 || strings.Contains(got, "more") {
		t.Errorf("on 40 lines:\n%s", got)
	}
	for _, r := range running {
		r.End()
	}
	s.c.Settle()
	if got := s.text(); strings.Count(got, "\n") != 58 || strings.Contains(got, "legs") || !strings.Contains(got, "\napp9   linux/arm/v6 ") {
		t.Errorf("at the end:\n%s", got)
	}
}

// Characters that are two cells wide, and a terminal of 20 columns.
func TestNarrowAndWide(t *testing.T) {
	for columns, want := range map[int]string{
		60: "push     映像/アプリ linux/arm64 0s    1.0/2.0 MB\nbuild    app0 linux/amd64        0s\n0/1 legs 0s\n",
		20: "push 映像/アプリ l…\nbuild app0 linux/a…\n0/1 legs 0s\n",
		9:  "push 映…\nbuild a…\n0/1 leg…\n",
		2:  "…\n…\n…\n",
	} {
		s := newScreen(t, columns, 6)
		wide := Subject{Image: "映像/アプリ", Platform: "linux/arm64"}
		s.c.Expect("legs", []Subject{wide})
		s.begin(wide, "push").Moved(1_000_000, 2_000_000)
		s.begin(legs(1)[0], "build")
		s.draw()
		s.shows(want)
	}
	s := newScreen(t, 60, 9)
	s.c.Done(pushed(Subject{Image: "映像", Platform: "linux/arm64"}))
	s.c.Done(pushed(Subject{Image: "app", Platform: "linux/arm64"}))
	s.c.Settle()
	s.shows("image  platform     engine  size     time\n映像   linux/arm64  native  12.3 MB  1.2s  pushed\napp    linux/arm64  native  12.3 MB  1.2s  pushed\n")
	s = newScreen(t, 20, 9)
	s.c.Done(pushed(Subject{Image: "映像", Platform: "linux/arm64"}))
	s.c.Settle()
	s.shows("image  platform\n映像   linux/arm64\n")
}

// A terminal that is made narrower cuts the live lines, or breaks them anew;
// whatever it does, the next drawing takes them away.
func TestResizedWhileRunning(t *testing.T) {
	s := newScreen(t, 80, 12)
	all := legs(3)
	s.c.Event("verify", "2 images", "nothing found")
	s.c.Expect("legs", all)
	var running []*Running
	for _, leg := range all {
		r := s.begin(leg, "build")
		fmt.Fprintln(r.Log(3), strings.Repeat("a long line ", 10))
		running = append(running, r)
	}
	for _, columns := range []int{80, 30, 100, 61, 20, 44} {
		s.Resize(columns, 12)
		s.draw()
		if got := strings.Split(s.text(), "\n"); len(got) != 6 || got[4] != "0/3 legs 0s" || !strings.HasPrefix(got[1], "build ") {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
	s.Resize(44, 3)
	s.draw()
	s.Resize(80, 12)
	for _, r := range running {
		r.End()
	}
	s.c.Settle()
	if got := s.text(); strings.Contains(got, "build") || strings.Contains(got, "legs") {
		t.Errorf("left:\n%s", got)
	}
}

// A compiler's lines are final and whole, however long, above what is live.
func TestLongTextStaysWholeAboveLiveLines(t *testing.T) {
	s := newScreen(t, 40, 5)
	s.c.Expect("legs", legs(2))
	r := s.begin(legs(1)[0], "build")
	s.draw()
	var want strings.Builder
	for i := range 20 {
		fmt.Fprintf(&want, "main.go:%d:1: undefined: x%d\n", i, i)
	}
	s.c.Lines(want.String())
	s.draw()
	if got := s.text(); got != want.String()+"build app0 linux/amd64 0s\n0/2 legs 0s\n" {
		t.Errorf("%s", got)
	}
	s.c.Lines(strings.Repeat("0123456789", 10))
	s.c.Result("a result")
	r.End()
	s.c.Settle()
	s.shows(want.String() + "0123456789012345678901234567890123456789\n0123456789012345678901234567890123456789\n01234567890123456789\na result\n")
}

func TestAPanicLeavesACleanTerminal(t *testing.T) {
	s := newScreen(t, 40, 5)
	s.c.Note("before")
	s.c.Expect("legs", legs(2))
	func() {
		defer func() {
			if v := recover(); v != "oh" {
				t.Errorf("%v", v)
			}
		}()
		r := s.begin(legs(1)[0], "build")
		defer r.End()
		s.draw()
		s.shows("note: before\nbuild app0 linux/amd64 0s\n0/2 legs 0s\n")
		panic("oh")
	}()
	s.c.Begin(Task{Phase: "late"})
	s.draw()
	fmt.Fprintln(s, "panic: oh")
	s.shows("note: before\npanic: oh\n")
}

func TestSpeedIsSmoothed(t *testing.T) {
	s := newScreen(t, 80, 5)
	now := time.Unix(0, 0)
	s.c.now = func() time.Time { return now }
	s.c.Expect("legs", legs(1))
	r := s.begin(legs(1)[0], "push")
	for i := range 4 {
		r.Moved(int64(i+1)*2_000_000, 20_000_000)
		s.draw()
		now = now.Add(2 * time.Second)
	}
	s.shows("push     app0 linux/amd64 6s    8.0/20.0 MB 1.0 MB/s\n0/1 legs 6s\n")
	r.Phase("build")
	s.draw()
	s.shows("build    app0 linux/amd64 8s\n0/1 legs 8s\n")
}

func TestBinariesAreGathered(t *testing.T) {
	s := newScreen(t, 80, 10)
	for _, o := range []Outcome{{State: "built", Time: time.Second}, {State: "built", Time: 2 * time.Second}, {State: "unchanged", Time: 0}} {
		for _, command := range []string{"a", "agent"} {
			o.Subject = Subject{Command: command, Platform: "linux/" + fmt.Sprint(len(s.c.work.ended))}
			s.c.Done(o)
		}
	}
	s.c.Settle()
	s.shows("command  platforms        time\na        linux/0 linux/2  2s    built\nagent    linux/1 linux/3  2s    built\na        linux/4          -     unchanged\nagent    linux/5          -     unchanged\n")
}

// A frame with fewer lines leaves none of the last one.
func TestFewerLinesLeaveNone(t *testing.T) {
	s := newScreen(t, 80, 10)
	var running []*Running
	for _, leg := range legs(3) {
		running = append(running, s.begin(leg, "build"))
	}
	s.draw()
	running[0].End()
	running[1].End()
	s.draw()
	s.shows("build    app0 linux/arm/v6 0s\n")
	running[2].End()
	s.draw()
	if got := s.text(); got != "\n" {
		t.Errorf("left:\n%s", got)
	}
}

// What a terminal of another size did to the lines is put right, though they are
// the same.
func TestTheSameLinesAreDrawnAnewAfterAResize(t *testing.T) {
	s := newScreen(t, 80, 10)
	s.c.Expect("legs", legs(1))
	s.begin(legs(1)[0], "build")
	s.draw()
	fmt.Fprint(s, clearDown)
	s.draw()
	if got := s.text(); got != "\n" {
		t.Errorf("left:\n%s", got)
	}
	s.Resize(70, 10)
	s.draw()
	s.shows("build    app0 linux/amd64 0s\n0/1 legs 0s\n")
}

// tmux tells of a new size some time after it has it.
func TestATerminalThatIsNarrowerThanItSays(t *testing.T) {
	s := newScreen(t, 40, 10)
	s.c.size = func() (int, int) { return 80, 10 }
	s.c.Expect("legs", legs(2))
	var running []*Running
	for _, leg := range legs(2) {
		r := s.begin(leg, "build")
		fmt.Fprintln(r.Log(1), strings.Repeat("word ", 30))
		running = append(running, r)
	}
	s.draw()
	s.c.Note("a note")
	for _, r := range running {
		r.End()
	}
	s.c.Settle()
	s.shows("note: a note\n")
}
