package dockerfile

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/archmage-go/archmage/build/platform"
)

// BaseResolver finds the base images of a Dockerfile. [Evaluate] asks it from
// several goroutines at once, for the bases that the target needs and no others.
type BaseResolver interface {
	// Resolve finds the image that ref, a normalised reference with tag or
	// digest, stands for on p. Its error reaches the caller of [Evaluate] in
	// the chain, at the line that names the base.
	Resolve(ctx context.Context, ref string, p platform.Platform) (ResolvedBase, error)
}

// ResolvedBase is what a [BaseResolver] found.
type ResolvedBase struct {
	Digest string // sha256:… of the index, or of the manifest where there is none; "" where nobody asked a registry
	Config []byte // the image config, JSON; not changed by anyone
	Ref    string // where to read it instead of under the reference asked for, without digest; "" is that reference
}

// Offline resolves every base to a stand-in, so that a Dockerfile can be
// evaluated without a network. The stand-in has the platform asked for, the
// usual PATH, one unknown layer and nothing else: no user, entrypoint, shell,
// working directory or triggers. Base.Digest is "" where it served.
type Offline struct{}

// Resolve implements [BaseResolver].
func (Offline) Resolve(_ context.Context, _ string, p platform.Platform) (ResolvedBase, error) {
	config, err := json.Marshal(map[string]any{
		"architecture": p.Arch, "os": p.OS, "variant": p.Variant,
		"config": map[string]any{"Env": []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}},
		// Without a layer the front end takes an image for scratch.
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{
			"sha256:0000000000000000000000000000000000000000000000000000000000000000",
		}},
	})
	return ResolvedBase{Config: config}, err
}

// Memo asks another resolver once for each reference and platform, however
// many recipes are evaluated at once, and gives everybody that answer, error or
// not. Only an answer that its caller's context cut short is asked for again.
type Memo struct {
	bases   BaseResolver
	mu      sync.Mutex
	answers map[memoKey]*answer
}

type memoKey struct {
	ref string
	p   platform.Platform
}

type answer struct {
	done chan struct{} // closed when base and err are set
	base ResolvedBase
	err  error
}

// Memoise makes a resolver remember. One run is its lifetime: a tag that moves
// in the meantime is not noticed, so that all legs build on the same base.
func Memoise(bases BaseResolver) *Memo {
	return &Memo{bases: bases, answers: map[memoKey]*answer{}}
}

// Resolve implements [BaseResolver].
func (m *Memo) Resolve(ctx context.Context, ref string, p platform.Platform) (ResolvedBase, error) {
	for {
		a, first := m.answer(memoKey{ref, p})
		if first {
			m.ask(ctx, memoKey{ref, p}, a)
			return a.base, a.err
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return ResolvedBase{}, context.Cause(ctx)
		}
		if m.holds(memoKey{ref, p}, a) {
			return a.base, a.err
		}
	}
}

func (m *Memo) answer(k memoKey) (a *answer, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := m.answers[k]; ok {
		return a, false
	}
	a = &answer{done: make(chan struct{})}
	m.answers[k] = a
	return a, true
}

// ask forgets an answer that says nothing about the base, before it is out.
func (m *Memo) ask(ctx context.Context, k memoKey, a *answer) {
	defer close(a.done)
	a.base, a.err = m.bases.Resolve(ctx, k.ref, k.p)
	if a.err != nil && ctx.Err() != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.answers, k)
	}
}

func (m *Memo) holds(k memoKey, a *answer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answers[k] == a
}
