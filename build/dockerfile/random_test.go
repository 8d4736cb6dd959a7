package dockerfile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Files that are made of the parts in which stages refer to each other, which
// is what this package works out next to BuildKit: they must agree.
func TestStagesAgreeWithTheGraph(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	in := input(t, "")
	in.Bases = &shelf{images: map[string]ResolvedBase{"docker.io/library/trig:latest": imageOf(`{"OnBuild":["COPY --from=a /t /t","ARG V","COPY t$V /t"]}`)}}
	good := 0
	for range 500 {
		text := randomFile(rnd)
		if err := os.WriteFile(filepath.Join(in.Context, "Dockerfile"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		in.Target = pick(rnd, "", "", "", "a", "b", "c")
		r, err := Evaluate(context.Background(), in)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Range == (Range{}) && !strings.HasPrefix(e.Cause, "no stage") {
				t.Fatalf("an error without a place: %v\n%s", err, text)
			}
			continue
		}
		good++
		checkRecipe(t, r)
		checkFollow(t, r)
		if t.Failed() {
			t.Fatalf("target %q of\n%s\n%s", in.Target, text, show(r))
		}
	}
	if good < 100 {
		t.Errorf("only %d files were right", good)
	}
}

// checkFollow holds that what is copied is among what BuildKit would send.
func checkFollow(t *testing.T, r *Recipe) {
	for _, op := range r.Ops {
		if op.Kind != KindContext {
			continue
		}
		if r.Context.Whole && op.Context.Follow != nil {
			t.Errorf("the whole context is copied, but %v is sent", op.Context.Follow)
		}
		for _, p := range r.Context.Paths {
			if op.Context.Follow != nil && !slices.Contains(op.Context.Follow, p) {
				t.Errorf("%s is copied, but %v is sent", p, op.Context.Follow)
			}
		}
	}
}

func pick(rnd *rand.Rand, of ...string) string { return of[rnd.IntN(len(of))] }

func randomFile(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(3) {
		fmt.Fprintf(&b, "ARG %s\n", pick(rnd, "N", "N=a", "N=b M=$N", "TARGETARCH", "TARGETARCH=b", "M=${TARGETARCH}"))
	}
	for range 1 + rnd.IntN(4) {
		from := pick(rnd, "scratch", "scratch", "alpine", "trig", "a", "b", "c", "A", "${N:-a}", "$M", "img-$TARGETARCH")
		fmt.Fprintf(&b, "FROM %s%s%s\n", pick(rnd, "", "", "--platform=$BUILDPLATFORM "), from, pick(rnd, "", " AS a", " AS b", " as C"))
		for range rnd.IntN(4) {
			b.WriteString(pick(rnd,
				"COPY x /x", "COPY --from=a /x /y", "COPY --from=B /x /z", "COPY --from=0 /x /x", "COPY --from=1 / /all", "COPY --from=alpine /x /x",
				"COPY --link x y/ /l/", "ADD --link x /m", "COPY --parents a/./b c*/d /p/", "COPY . /", "WORKDIR w", "USER u", "ARG V=1", "ENV V=2", "COPY x$V /v",
				"RUN x", "RUN --mount=from=a,target=/a x", "RUN --mount=source=q,target=/q x", "ONBUILD COPY --from=a /o /o", "ONBUILD COPY o /o", "COPY <<E /e\n$V\nE",
			) + "\n")
		}
	}
	return b.String()
}
