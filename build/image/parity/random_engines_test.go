//go:build engines

package parity

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Random cases, from -engines.seed on, are equal too. A case that is not is
// written to a file, which is a case for testdata/cases as it stands.
func TestRandomCasesEqualBuildKit(t *testing.T) {
	for n := range *random {
		s := *seed + uint64(n)
		t.Run(fmt.Sprint("seed=", s), func(t *testing.T) {
			t.Parallel()
			k, err := Random(s)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("again: go test -tags engines -engines.random 1 -engines.seed %d; kept as %s", s, keep(t, k))
				}
			})
			out := check(t, k)
			tally.random.Add(1)
			if out.Refused != "" {
				t.Log("refused: ", out.Refused)
				tally.randomRefused.Add(1)
			}
		})
	}
}

func keep(t *testing.T, k Case) string {
	dir := filepath.Join(os.TempDir(), "archmage-parity")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Error(err)
	}
	at := filepath.Join(dir, k.Name+".txtar")
	if err := os.WriteFile(at, k.Source, 0o600); err != nil {
		t.Error(err)
	}
	return at
}
