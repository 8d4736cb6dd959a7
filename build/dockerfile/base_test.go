package dockerfile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
)

// notThere is an error of a kind of its own, as a registry's is.
type notThere struct{}

func (n *notThere) Error() string { return "not\nthere" }

func TestEveryBaseThatFailsIsReportedWhereItIsNamed(t *testing.T) {
	in := input(t, "FROM scratch AS build\nFROM nosuch AS unused\nFROM --platform=$BUILDPLATFORM a:1 AS x\nFROM a:1\nCOPY --from=b:2 /x /y\nCOPY --from=buidl /x /y\nCOPY --from=x /x /y\nRUN --mount=from=c,target=/c true\n")
	lost := &notThere{}
	in.Bases = &shelf{err: lost}
	for range 20 { // the front end asks in no order
		_, err := Evaluate(context.Background(), in)
		want := `dockerfile Dockerfile:3: base docker.io/library/a:1 for linux/amd64: not there
dockerfile Dockerfile:4: base docker.io/library/a:1 for linux/arm64: not there
dockerfile Dockerfile:5: base docker.io/library/b:2 for linux/arm64: not there
dockerfile Dockerfile:6: base docker.io/library/buidl:latest for linux/arm64: not there
dockerfile Dockerfile:8: base docker.io/library/c:latest for linux/arm64: not there`
		if err == nil || err.Error() != want {
			t.Fatalf("got\n%v\nwant\n%s", err, want)
		}
		var as *notThere
		if !errors.Is(err, lost) || !errors.As(err, &as) {
			t.Fatal("the resolver's error is not in the chain")
		}
		hinted := err.(interface{ Unwrap() []error }).Unwrap()[3].(*Error)
		if hinted.Hint() != "did you mean stage build?" || hinted.Range != (Range{Position{6, 1}, Position{6, 24}}) {
			t.Fatalf("hint %q at %v", hinted.Hint(), hinted.Range)
		}
	}
}

func TestBaseWithoutLayersIsScratch(t *testing.T) {
	in := input(t, "FROM empty\nCOPY --chown=bob a /a\n")
	in.Bases = &shelf{images: map[string]ResolvedBase{"docker.io/library/empty:latest": {Config: []byte(`{"architecture":"arm64","os":"linux","config":{"User":"5"}}`)}}}
	r := evaluate(t, in)
	if got := show(r); got != "0 context [a]-[]\n1 file L2 on -1: copy 0:/a /a owner bob@-1:\n= 1" || r.FinalBase != nil || configOf(t, r).Config.User != "5" {
		t.Errorf("%s\nbase %v", got, r.FinalBase)
	}
}

func TestBaseKeepsTheReferenceAsWritten(t *testing.T) {
	other := "sha256:2222222222222222222222222222222222222222222222222222222222222222"
	in := input(t, "FROM ghcr.io/o/b:1@"+other+"\n")
	if got := *evaluate(t, in).FinalBase; got != (Base{Ref: "ghcr.io/o/b:1@" + other, Platform: arm64}) {
		t.Errorf("offline: %+v", got)
	}
	base := imageOf(`{}`)
	in.Bases = &shelf{images: map[string]ResolvedBase{"ghcr.io/o/b:1@" + other: base}}
	if got := *evaluate(t, in).FinalBase; got != (Base{Ref: "ghcr.io/o/b:1@" + other, Digest: someDigest, Platform: arm64}) {
		t.Errorf("resolved: %+v", got)
	}
	base.Ref = "mirror.local/o/b:1"
	in.Bases = &shelf{images: map[string]ResolvedBase{"ghcr.io/o/b:1@" + other: base}}
	if got := evaluate(t, in); got.FinalBase.Ref != "mirror.local/o/b:1" || got.FinalBase.Digest != someDigest {
		t.Errorf("mirrored: %+v", got.FinalBase)
	}
}

func TestWrongAnswersAboutABaseAreErrors(t *testing.T) {
	for _, base := range []ResolvedBase{{Digest: "nonsense", Config: []byte("{}")}, {Config: []byte("nonsense")}} {
		in := input(t, "\nFROM b\n")
		in.Bases = &shelf{images: map[string]ResolvedBase{"docker.io/library/b:latest": base}}
		var e *Error
		if _, err := Evaluate(context.Background(), in); !errors.As(err, &e) || e.Range.Start.Line != 2 {
			t.Errorf("%+v: %v", base, err)
		}
	}
}

func TestBaseOfAnotherPlatformIsWarnedAbout(t *testing.T) {
	in := input(t, "FROM b\n")
	in.Bases = &shelf{images: map[string]ResolvedBase{"docker.io/library/b:latest": {Config: []byte(`{"architecture":"arm","os":"linux"}`)}}}
	in.Bases.(*shelf).images["docker.io/library/b:latest"] = ResolvedBase{Config: []byte(`{"architecture":"arm","os":"linux","rootfs":{"diff_ids":["` + someDigest + `"]}}`)}
	if w := evaluate(t, in).Warnings; len(w) != 1 || w[0].Rule != "InvalidBaseImagePlatform" {
		t.Errorf("warnings %+v", w)
	}
}

func TestCancelIsTheContextsError(t *testing.T) {
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	in := input(t, "FROM a\nCOPY --from=b / /\n")
	in.Bases = resolverFunc(func(ctx context.Context, _ string, _ platform.Platform) (ResolvedBase, error) {
		cancel(why)
		<-ctx.Done()
		return ResolvedBase{}, ctx.Err()
	})
	if _, err := Evaluate(ctx, in); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}

type resolverFunc func(context.Context, string, platform.Platform) (ResolvedBase, error)

func (f resolverFunc) Resolve(ctx context.Context, ref string, p platform.Platform) (ResolvedBase, error) {
	return f(ctx, ref, p)
}

func TestMemoAsksOnce(t *testing.T) {
	for _, lost := range []error{nil, errors.New("lost")} {
		s := &shelf{err: lost}
		m := Memoise(s)
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				base, err := m.Resolve(context.Background(), fmt.Sprint("r", i%2), platform.Platform{OS: "linux", Arch: []string{"arm64", "amd64"}[i/2%2]})
				if !errors.Is(err, lost) || (err == nil) != (base.Config != nil) {
					t.Errorf("answer %v, %v", base, err)
				}
			})
		}
		wg.Wait()
		if len(s.asked) != 4 {
			t.Errorf("asked for %v", s.asked)
		}
		for k, n := range s.asked {
			if n != 1 {
				t.Errorf("asked %d times for %s", n, k)
			}
		}
	}
}

func TestMemoForgetsWhatACancelledCallerGot(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	n := 0
	m := Memoise(resolverFunc(func(ctx context.Context, ref string, _ platform.Platform) (ResolvedBase, error) {
		if n++; n > 1 {
			return ResolvedBase{Ref: ref}, nil
		}
		close(asked)
		<-release
		return ResolvedBase{}, ctx.Err()
	}))
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := m.Resolve(ctx, "r", arm64); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
	<-asked
	wg.Go(func() { // waits for the first one's answer, or comes after it: either way it asks again
		if base, err := m.Resolve(context.Background(), "r", arm64); err != nil || base.Ref != "r" {
			t.Errorf("the other: %v, %v", base, err)
		}
	})
	gone, stop := context.WithCancel(context.Background())
	stop()
	if _, err := m.Resolve(gone, "r", arm64); !errors.Is(err, context.Canceled) {
		t.Errorf("a waiting caller whose context ends: %v", err)
	}
	cancel()
	close(release)
	wg.Wait()
}
