package console

import (
	"time"
)

// Task is something that takes a while: a leg, or a go command.
type Task struct {
	Verb    string
	Subject Subject
	Phase   string // what it does first: compile, build, push
	Engine  string
}

// Running is a task that was begun and has not ended. Nothing is shown of nil,
// which is for dry runs.
type Running struct {
	c     *Console
	task  Task
	began time.Time

	// Guarded by c.mu.
	said         string // its last line
	bytes, total int64
	reported     time.Time
	rate         rate
}

// Begin shows a task as running, until [Running.End].
func (c *Console) Begin(t Task) *Running {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &Running{c: c, task: t, began: c.now()}
	c.work.running = append(c.work.running, r)
	r.event(stateStarted)
	c.animate()
	return r
}

// Phase says what the task does from now on. Bytes begin at 0.
func (r *Running) Phase(phase string) {
	if r == nil {
		return
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if r.task.Phase == phase {
		return
	}
	r.task.Phase, r.said, r.bytes, r.total, r.rate = phase, "", 0, 0, rate{}
	r.event(stateStarted)
}

// Moved says how many bytes this phase has moved, out of total; 0 is unknown.
func (r *Running) Moved(bytes, total int64) {
	if r == nil {
		return
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.bytes, r.total = bytes, total
	if now := r.c.now(); now.Sub(r.reported) >= time.Second {
		r.reported = now
		r.event(stateProgress)
	}
}

// End takes the task's line away. Deferred, it leaves a clean terminal to a
// panic.
func (r *Running) End() {
	if v := recover(); v != nil {
		r.c.Close()
		panic(v) //nolint:forbidigo // somebody else's goes on
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	for i, other := range r.c.work.running {
		if other == r {
			r.c.work.running = append(r.c.work.running[:i:i], r.c.work.running[i+1:]...)
			return
		}
	}
}

// event is told to programs; people see the line. c.mu is held.
func (r *Running) event(state string) {
	if r.c.mode == jsonLines && !r.c.quiet {
		r.c.write(event{
			Verb: r.task.Verb, Subject: &r.task.Subject, Phase: r.task.Phase, Engine: r.task.Engine,
			State: state, Bytes: r.bytes, Total: r.total,
		})
	}
}

// rate is how fast bytes move, in bytes per second, smoothed.
type rate struct {
	at    time.Time
	bytes int64
	value float64
}

// step is taken once per second at most.
func (r *rate) step(now time.Time, bytes int64) {
	passed := now.Sub(r.at)
	switch {
	case r.at.IsZero():
	case passed < time.Second:
		return
	case r.value == 0:
		r.value = max(0, float64(bytes-r.bytes)) / passed.Seconds()
	default:
		r.value += 0.4 * (max(0, float64(bytes-r.bytes))/passed.Seconds() - r.value)
	}
	r.at, r.bytes = now, bytes
}
