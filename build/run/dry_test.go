package run

import (
	"context"
	"errors"
	"slices"
	"testing"
)

type counted struct{ ran []string }

func (r *counted) Run(_ context.Context, c Cmd) error {
	r.ran = append(r.ran, c.Name)
	return nil
}
func (r *counted) Find(name string) (string, error) { return name, nil }

func TestDryRunStartsWhatReads(t *testing.T) {
	var told []string
	inner := &counted{}
	d := DryRun{Runner: inner, Instead: func(c Cmd) { told = append(told, c.Name) }}
	for _, c := range []Cmd{{Name: "reads", Reads: true}, {Name: "writes"}} {
		if err := d.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(inner.ran, []string{"reads"}) || !slices.Equal(told, []string{"writes"}) {
		t.Errorf("ran %v, told %v", inner.ran, told)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Run(ctx, Cmd{Name: "late"}); !errors.Is(err, context.Canceled) || len(told) != 1 {
		t.Errorf("after the end: %v, told %v", err, told)
	}
}

func TestShellHasDirectoryAndEnvironment(t *testing.T) {
	c := Cmd{Name: "go", Args: []string{"build", "-ldflags=-s -w"}, Dir: "/a b", Env: []string{"GOOS=linux", "X=a b", "E="}}
	if got, want := c.Shell("/"), `cd '/a b' && GOOS=linux X='a b' E= go build '-ldflags=-s -w'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := c.Shell("/a b/"), `GOOS=linux X='a b' E= go build '-ldflags=-s -w'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
