package registry

import (
	"context"
	"sync"
)

// memo remembers the answer to a question, and lets concurrent callers of the
// same question wait for one answer. An error is shared by those who waited for
// it, so that retries are gone through once, and then forgotten. A caller that
// was cancelled says nothing to the others: one of them asks again. The zero
// value is ready.
type memo[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]*slot[V]
}

type slot[V any] struct {
	done      chan struct{}
	val       V
	err       error
	cancelled bool // the asker gave up
}

func (m *memo[K, V]) get(ctx context.Context, key K, ask func() (V, error)) (V, error) {
	for {
		if ctx.Err() != nil {
			var zero V
			return zero, context.Cause(ctx)
		}
		a, mine := m.claim(key)
		if mine {
			a.val, a.err = ask()
			a.cancelled = a.err != nil && ctx.Err() != nil
			if a.err != nil {
				m.forget(key)
			}
			close(a.done)
			return a.val, a.err
		}
		select {
		case <-ctx.Done():
			var zero V
			return zero, context.Cause(ctx)
		case <-a.done:
		}
		if !a.cancelled {
			return a.val, a.err
		}
	}
}

func (m *memo[K, V]) claim(key K) (a *slot[V], mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := m.m[key]; ok {
		return a, false
	}
	if m.m == nil {
		m.m = map[K]*slot[V]{}
	}
	a = &slot[V]{done: make(chan struct{})}
	m.m[key] = a
	return a, true
}

// know answers a question that nobody has asked yet.
func (m *memo[K, V]) know(key K, val V) {
	if a, mine := m.claim(key); mine {
		a.val = val
		close(a.done)
	}
}

func (m *memo[K, V]) forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.m, key)
}
