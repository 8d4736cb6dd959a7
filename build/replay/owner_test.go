package replay

import (
	"math"
	"testing"
)

func TestTheLastNumberIsNone(t *testing.T) {
	for n, want := range map[uint32]int{0: 0, 65532: 65532, math.MaxUint32 - 1: math.MaxUint32 - 1, math.MaxUint32: 0} {
		if got := id(n); got != want {
			t.Errorf("%d: %d", n, got)
		}
	}
}
