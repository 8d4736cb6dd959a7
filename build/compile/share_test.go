package compile

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/archmage-go/archmage/build/plan"
)

func TestProcessorsAreShared(t *testing.T) {
	for _, tt := range []struct {
		commands, jobs, processors int
		want                       []int // for each; 0 is all of them
	}{
		{1, 2, 2, []int{0}},
		{2, 2, 2, []int{1, 1}},
		{2, 1, 8, []int{0, 0}}, // one after the other
		{2, 8, 8, []int{4, 4}},
		{3, 8, 8, []int{3, 3, 3}},
		{4, 8, 2, []int{1, 1, 1, 1}},
		{3, 2, 2, []int{1, 1, 0}}, // the last one is alone
		{6, 4, 8, []int{2, 2, 2, 2, 4, 4}},
		{2, 2, 1, []int{0, 0}},
	} {
		groups := make([]batch, tt.commands)
		share(groups, tt.jobs, tt.processors)
		var got []int
		for _, g := range groups {
			got = append(got, g.procs)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d go commands, %d at once, on %d processors: %v, want %v", tt.commands, tt.jobs, tt.processors, got, tt.want)
		}
	}
}

// TestAGoCommandKnowsItsShare: as a default, which the caller's own setting
// replaces.
func TestAGoCommandKnowsItsShare(t *testing.T) {
	f := &fake{}
	root := t.TempDir()
	list := []plan.Binary{binary("a", amd64), binary("a", armv6)}
	if err := Run(t.Context(), f, list, Options{Root: root, Keep: root + "/keep", Jobs: 2}); err != nil {
		t.Fatal(err)
	}
	want := []string{"GOGC=400"}
	if n := runtime.GOMAXPROCS(0); n > 1 {
		want = append(want, fmt.Sprintf("GOMAXPROCS=%d", (n+1)/2))
	}
	for _, c := range f.calls {
		if !slices.Equal(c.Default, want) {
			t.Errorf("%q, want %q", c.Default, want)
		}
	}
}
