package registry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Wait is one pause before a request is repeated.
type Wait struct {
	Host   string
	For    time.Duration
	Reason string // "rate limit", or what went wrong
}

// String is the pause as one line, e.g. "waiting 60s: ghcr.io rate limit".
func (w Wait) String() string {
	return fmt.Sprintf("waiting %gs: %s %s", w.For.Round(100*time.Millisecond).Seconds(), w.Host, w.Reason)
}

const (
	// maxRetryAfter is the longest wait that a registry may ask for; beyond it
	// a run that fails is worth more than one that hangs.
	maxRetryAfter = 10 * time.Minute
	maxBackoff    = time.Minute

	// GitHub asks for at least a minute after a secondary rate limit that came
	// without Retry-After, and for longer after each further one
	// (docs.github.com, "Rate limits for the REST API").
	secondaryPause = time.Minute
	secondaryLeast = 30 * time.Second
)

// again is an attempt that may be repeated.
type again struct {
	host      string
	reason    string
	cause     error         // what is returned when no attempt is left
	limit     bool          // the whole host is to be left alone meanwhile
	secondary bool          // GitHub's secondary rate limit
	after     time.Duration // Retry-After, 0 where there was none
}

func (a *again) Error() string { return a.cause.Error() }
func (a *again) Unwrap() error { return a.cause }

// exhausted is the last of all attempts that were allowed.
type exhausted struct {
	cause error
	tries int
	limit bool          // the registry wants fewer requests
	asked time.Duration // for more patience than there is; 0: not for that
}

func (e *exhausted) Error() string { return e.cause.Error() }
func (e *exhausted) Unwrap() error { return e.cause }

// why says why there is no other attempt; "" where none was asked for.
func (e *exhausted) why() string {
	switch {
	case e.asked > 0:
		return fmt.Sprintf("it asks to wait %s, which is too long", e.asked.Round(time.Second))
	case e.tries > 1:
		return fmt.Sprintf("tried %d times", e.tries)
	}
	return ""
}

// Clock is what a client knows of time. Tests replace it, since a registry may
// ask for minutes.
type Clock struct {
	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error // ends early, with the cause, when the context does
	Jitter func() float64                             // in [0, 1)
}

func (c Clock) orReal() Clock {
	if c.Now == nil {
		return Clock{Now: time.Now, Sleep: sleep, Jitter: rand.Float64}
	}
	return c
}

// sleep ends early, with the reason, when ctx does.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// pacer repeats attempts, and holds back every request to a host that has said
// it wants fewer.
type pacer struct {
	max    int
	delay  time.Duration
	notify func(Wait)
	clock  Clock

	mu    sync.Mutex
	until map[string]time.Time
}

// run calls try until it returns anything but an *again, at most max times more
// than once.
func (p *pacer) run(ctx context.Context, try func() error) error {
	for n := 0; ; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := try()
		var repeat *again
		if !errors.As(err, &repeat) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		last := &exhausted{cause: repeat.cause, tries: n + 1, limit: repeat.limit}
		if repeat.after > maxRetryAfter {
			last.asked = repeat.after
			return last
		}
		d := p.pause(repeat, n)
		wait := Wait{Host: repeat.host, For: d, Reason: repeat.reason}
		news := true
		if repeat.limit {
			wait.Reason = "rate limit"
			news = p.hold(repeat.host, d)
		}
		if n >= p.max {
			return last
		}
		if news && p.notify != nil {
			p.notify(wait)
		}
		if repeat.limit {
			continue // the next request to the host waits
		}
		if err := p.clock.Sleep(ctx, d); err != nil {
			return err
		}
	}
}

// pause is how long to wait after the nth failed attempt. Jitter keeps parallel
// jobs from coming back in step. What a registry asked for is only ever
// lengthened, and only backoff is a matter of the configured delay.
func (p *pacer) pause(a *again, n int) time.Duration {
	spread := func(d time.Duration, least, most float64) time.Duration {
		return time.Duration(float64(d) * (least + (most-least)*p.clock.Jitter()))
	}
	switch {
	case a.after > 0:
		return spread(a.after, 1, 1.1)
	case a.secondary:
		d := double(secondaryPause, n, maxRetryAfter)
		return max(spread(d, 0.75, 1.25), secondaryLeast)
	}
	return spread(double(p.delay, n, max(p.delay, maxBackoff)), 0.8, 1.2)
}

func double(d time.Duration, n int, most time.Duration) time.Duration {
	for ; n > 0 && d < most; n-- {
		d *= 2
	}
	return min(d, most)
}

// hold keeps all requests to host waiting for d from now. A hold that is
// running is only lengthened; hold reports whether it was.
func (p *pacer) hold(host string, d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	until := p.clock.Now().Add(d)
	if !until.After(p.until[host]) {
		return false
	}
	if p.until == nil {
		p.until = map[string]time.Time{}
	}
	p.until[host] = until
	return true
}

// clear waits until host may be asked. Every request passes here.
func (p *pacer) clear(ctx context.Context, host string) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.mu.Lock()
		d := p.until[host].Sub(p.clock.Now())
		p.mu.Unlock()
		if d <= 0 {
			return nil
		}
		if err := p.clock.Sleep(ctx, d); err != nil {
			return err
		}
	}
}
