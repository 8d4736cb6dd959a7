package build

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// baseTime is how long the registry of a base may take to answer: what the base
// says helps an audit, and is not worth a long wait.
const baseTime = 15 * time.Second

// baseConfig reads configs of bases that labels name. A registry that did not
// answer once is not asked again.
func (p *Project) baseConfig() func(context.Context, string, string, platform.Platform) ([]byte, error) {
	silent := silence{}
	return func(ctx context.Context, name, digest string, pl platform.Platform) ([]byte, error) {
		if _, err := v1.NewHash(digest); err != nil {
			return nil, err
		}
		if err := silent.of(name); err != nil {
			return nil, err
		}
		limited, done := context.WithTimeout(ctx, baseTime)
		defer done()
		base, err := p.client.Resolve(limited, untagged(name)+"@"+digest, pl)
		if err != nil && !is[*registry.NoPlatformError](err) && ctx.Err() == nil {
			silent.add(name, err)
		}
		return base.Config, err
	}
}

// untagged is a reference without tag and digest.
func untagged(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndex(ref, ":"); i > strings.LastIndex(ref, "/") {
		ref = ref[:i]
	}
	return ref
}

// silence remembers hosts that gave no answer, and why.
type silence struct {
	mu    sync.Mutex
	hosts map[string]error
}

func (s *silence) of(ref string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	host, _, _ := strings.Cut(ref, "/")
	return s.hosts[host]
}

// add notes a host, unless it did answer: that there is no such base, or none
// for this user.
func (s *silence) add(ref string, err error) {
	if errors.Is(err, registry.ErrAbsent) || errors.Is(err, registry.ErrDenied) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil {
		s.hosts = map[string]error{}
	}
	host, _, _ := strings.Cut(ref, "/")
	s.hosts[host] = err
}
