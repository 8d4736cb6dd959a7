package parity

import (
	"bytes"
	"strings"
	"testing"
)

func TestRandomIsTheSameForASeed(t *testing.T) {
	for seed := range uint64(50) {
		a, err := Random(seed)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Random(seed)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Source, b.Source) {
			t.Fatalf("seed %d makes two cases", seed)
		}
		next, err := Random(seed + 1)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(a.Source, next.Source) {
			t.Fatalf("seeds %d and %d make one case", seed, seed+1)
		}
	}
}

// Random cases are well formed: their contexts can be written, their bases built
// and unpacked. A kept one, read again, is the same case.
func TestRandomCasesAreWellFormed(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(300) {
		c, err := Random(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := c.write(t.Context(), t.TempDir(), places{}); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, c.Source)
		}
		for _, b := range c.bases() {
			spec, err := parseBase(b[1])
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			tree := NewTree()
			for _, l := range spec.layers {
				data, err := tarOf(l.lines)
				if err == nil {
					err = tree.Apply(data)
				}
				if err != nil {
					t.Errorf("seed %d: %v\n%s", seed, err, b[1])
				}
			}
		}
		for _, word := range strings.Fields("COPY ADD WORKDIR USER ENV ARG --link --chmod --chown --parents --exclude --from <<EOT ONBUILD " +
			".wh. !base !tar .dockerignore target: hard fifo cap=1") {
			if bytes.Contains(c.Source, []byte(word)) {
				seen[word]++
			}
		}
	}
	if len(seen) != 22 {
		t.Errorf("of 22 words random cases have %d: %v", len(seen), seen)
	}
}
