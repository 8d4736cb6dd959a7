package build

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// A reference that fails is asked for once, whatever platforms want it, and is
// told once; each of them gets the stand-in.
func TestABaseWithoutAnAnswerIsAskedForOnce(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/manifests/") {
			asked.Add(1)
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer s.Close()
	ref := strings.TrimPrefix(s.URL, "http://") + "/base:1"
	b := newAskedBases(registry.New(registry.Options{}))
	var wg sync.WaitGroup
	for _, arch := range []string{"amd64", "arm64", "s390x", "riscv64"} {
		wg.Go(func() {
			got, err := b.Resolve(t.Context(), ref, platform.Platform{OS: "linux", Arch: arch})
			if err != nil || got.Digest != "" || !strings.Contains(string(got.Config), arch) {
				t.Errorf("%s: %s, %v", arch, got.Config, err)
			}
		})
	}
	wg.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if len(b.answers()) != 0 {
		t.Errorf("knows %v", b.answers())
	}
	op := dockerfile.Op{Base: &dockerfile.Base{Ref: ref}, Ranges: []dockerfile.Range{{Start: dockerfile.Position{Line: 7, Column: 1}}}}
	r := &dockerfile.Recipe{Dockerfile: "Dockerfile", Ops: []dockerfile.Op{op, op}}
	w := &work{images: []plan.Image{{Name: "app"}}, recipes: map[string][]*dockerfile.Recipe{"app": {r, r}}}
	for _, w := range []*work{w, {}} {
		err := b.failures(w)
		if err == nil || strings.Count(err.Error(), "base "+ref) != 1 || ExitCode(err) != ExitFailed {
			t.Errorf("got %v", err)
		}
	}
	if err := b.failures(w); !strings.HasPrefix(err.Error(), "dockerfile Dockerfile:7: base ") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsInterruptedIsNoAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := newAskedBases(registry.New(registry.Options{}))
	if _, err := b.Resolve(ctx, "127.0.0.1:1/base:1", platform.Platform{OS: "linux", Arch: "amd64"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
