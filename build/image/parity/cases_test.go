//go:build engines

package parity

import "testing"

// Every hand-made case is built by BuildKit and by the other builder, and is
// equal on all its platforms.
func TestCasesEqualBuildKit(t *testing.T) {
	cases, err := Cases("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range cases {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			out := check(t, k)
			tally.cases.Add(1)
			if out.Refused != "" {
				t.Log("refused: ", out.Refused)
				tally.refused.Add(1)
			}
		})
	}
}
