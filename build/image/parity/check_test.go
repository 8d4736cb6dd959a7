package parity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/run"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// fakeBuildx answers as buildx does: an image in a layout, or an error.
type fakeBuildx struct {
	image v1.Image
	says  string
}

func (fakeBuildx) Find(name string) (string, error) { return name, nil }

func (f fakeBuildx) Run(_ context.Context, c run.Cmd) error {
	if f.says != "" {
		fmt.Fprintln(c.Stderr, "#1 a step\n#1 ERROR: x\n"+f.says)
		return &run.ExitError{Name: c.Name, Code: 1}
	}
	for _, a := range c.Args {
		if dir, ok := strings.CutPrefix(a, "--output=type=oci,tar=false,dest="); ok {
			p, err := layout.Write(dir, emptyIndex())
			if err != nil {
				return err
			}
			return p.AppendImage(f.image)
		}
	}
	return errors.New("no output asked for")
}

func TestCheckTellsOutcomesApart(t *testing.T) {
	image := layeredImage(t, "file a")
	builds := func(i v1.Image) Builder {
		return func(context.Context, Request) (v1.Image, error) { return i, nil }
	}
	refuses := func(context.Context, Request) (v1.Image, error) { return nil, errors.New("no") }
	for _, c := range []struct {
		name    string
		says    string // by BuildKit, instead of building
		other   Builder
		refuses string
		diffs   string
		err     string
	}{
		{name: "equal", other: builds(image)},
		{name: "another tree", other: builds(layeredImage(t, "file b")), diffs: `tree "/a"`},
		{name: "only the other side refuses", other: refuses, diffs: "the other side does not"},
		{name: "both refuse", says: "ERROR: failed to build: failed to solve: not found", other: refuses, refuses: "not found"},
		{name: "only BuildKit refuses", says: "ERROR: failed to build: failed to solve: not found", other: builds(image), refuses: "not found", diffs: "BuildKit refuses"},
		{name: "BuildKit refuses for another reason", says: "ERROR: failed to build: bad", other: refuses, refuses: "not found", err: "expected was"},
		{name: "BuildKit refuses unexpectedly", says: "ERROR: failed to build: bad", other: refuses, err: "expected was"},
		{name: "BuildKit does not refuse", other: builds(image), refuses: "not found", err: "was to refuse"},
		{name: "anything may be refused", says: "ERROR: failed to build: bad", other: refuses, refuses: AnyOutcome},
		{name: "nothing need be refused", other: builds(image), refuses: AnyOutcome},
		{name: "no BuildKit", says: "ERROR: failed to build: connection error: desc", other: refuses, refuses: AnyOutcome, err: "run buildx"},
		{name: "no answer", says: "panic", other: refuses, refuses: AnyOutcome, err: "run buildx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := ParseCase("x", []byte("platforms: linux/amd64\n-- Dockerfile --\nFROM scratch\n"))
			if err != nil {
				t.Fatal(err)
			}
			k.Refuses = c.refuses
			checker := Checker{BuildKit: BuildKit{Runner: fakeBuildx{image, c.says}}, Other: c.other, Dir: t.TempDir()}
			out, err := checker.Check(t.Context(), k)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("error is %v, want one with %q", err, c.err)
			}
			if got := out.String(); (got == "") != (c.diffs == "") || !strings.Contains(got, c.diffs) {
				t.Errorf("differences are %q, want %q", got, c.diffs)
			}
		})
	}
}
