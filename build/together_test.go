package build

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/archmage-go/archmage/build/registry/faulty"
)

// TestTwoRunsAtOnce publishes one version from two checkouts, and two versions
// with the tag latest from a checkout each. Whoever is first, every shared tag
// is one of the two afterwards, and whole; so it is all the time.
func TestTwoRunsAtOnce(t *testing.T) {
	old, recent := releases()
	next := &release{version: "v1.1.0", commit: recent.commit, seed: 3}
	learn(t, old, recent, next)
	for name, pair := range map[string][2]*release{"one version": {recent, recent}, "two versions": {recent, next}} {
		for round := range 3 {
			t.Run(fmt.Sprint(name, " ", round), func(t *testing.T) {
				t.Parallel()
				up := inProcess(t)
				newSite(t, up.host()+"/x", old).publish(old)
				expected := either(old, pair)
				stop := expected.Watch(up.url)
				var both sync.WaitGroup
				for _, r := range pair {
					s := newSite(t, up.host()+"/x", r)
					both.Go(func() { s.compete(r) })
				}
				both.Wait()
				if err := stop(); err != nil {
					t.Errorf("a reader: %v", err)
				}
				for ref, digests := range expected {
					expected[ref] = slices.DeleteFunc(digests, func(d string) bool { return d == "" || slices.Contains(slices.Collect(maps.Values(old.digests)), d) })
				}
				if err := expected.Check(t.Context(), up.url); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// either is what shared tags may name while both releases of a pair are
// published over an old one.
func either(old *release, pair [2]*release) faulty.Shared {
	all := faulty.Shared{}
	for _, img := range faulty.Images {
		for _, r := range pair {
			all["x/"+img+":"+r.version] = []string{"", r.digests[img]}
		}
		for _, tag := range []string{"main", "latest", "v"} {
			all["x/"+img+":"+tag] = []string{old.digests[img], pair[0].digests[img], pair[1].digests[img]}
		}
	}
	return all
}

// compete publishes a release while somebody else does the same. A verb may
// fail where the other has moved a tag meanwhile, and says so.
func (s *site) compete(r *release) {
	s.t.Helper()
	s.retry = 2
	for _, step := range r.steps() {
		got := s.verb(step.verb, r, step.flags)
		if got.code == 0 {
			continue
		}
		if got.code != ExitFailed {
			s.t.Errorf("%s %s: exit code %d\n%s", step.verb, r.version, got.code, got.errOut)
		}
		for _, problem := range unclear(got.errOut) {
			s.t.Errorf("%s %s: unclear: %s", step.verb, r.version, problem)
		}
	}
}
