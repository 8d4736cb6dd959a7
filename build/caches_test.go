package build

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/cache"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/run"
)

// cachingProject is an empty repository of a user without a cache.
func cachingProject(t *testing.T) (*Project, *bytes.Buffer) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	var said bytes.Buffer
	p, err := Open(t.Context(), config.Source{Root: t.TempDir(), Runner: run.OS{}}, console.New(&said, &said))
	if err != nil {
		t.Fatal(err)
	}
	return p, &said
}

func TestCleanLeavesWhatIsBeingCompiled(t *testing.T) {
	p, said := cachingProject(t)
	dir, release, err := p.keep()
	if err != nil {
		t.Fatal(err)
	}
	p.cache(cacheLayers).Put("a", nil)
	for _, o := range []CleanOptions{{}, {Cache: true}} {
		said.Reset()
		if err := p.Clean(t.Context(), o); err != nil || !strings.Contains(said.String(), cache.ErrInUse.Error()) {
			t.Errorf("%+v: error %v, said %s", o, err, said)
		}
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	if u := p.cache(cacheLayers).Usage(); u != (cache.Usage{}) {
		t.Errorf("left %+v", u)
	}
	release()
	if err := p.Clean(t.Context(), CleanOptions{Cache: true}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("left %s", dir)
	}
}

func TestAVerbEndsWithItsCachesWithinTheirLimits(t *testing.T) {
	p, _ := cachingProject(t)
	s := p.cache(cacheFacts)
	s.Put("a", []byte("value"))
	large := filepath.Join(s.Dir, strings.Repeat("0", 64))
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, s.Limit)); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if u := s.Usage(); u.Entries != 1 {
		t.Errorf("holds %+v", u)
	}
}

func TestEveryKindIsListed(t *testing.T) {
	p, _ := cachingProject(t)
	var kinds []string
	for _, c := range p.caches() {
		kinds = append(kinds, c.kind)
	}
	if got := words(kinds); got != words([]string{cacheBases, cacheCompile, cacheFacts, cacheLayers}) {
		t.Errorf("lists %s", got)
	}
}
