package build

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/archmage-go/archmage/build/cache"
)

// What archmage remembers between runs, by the names of its directories below
// the user's cache.
const (
	cacheLayers  = "layers"  // what the layers of bases list
	cacheFacts   = "facts"   // of files and layers: digests and sizes
	cacheBases   = "bases"   // manifests and configs of bases
	cacheCompile = "compile" // compiled programs, per checkout
)

// cacheLimit is how many bytes of disk a kind may take.
//
// A listing of a distribution's base takes about a megabyte, everything else but
// programs a block: the limits are hundreds of bases, and tens of thousands of
// facts, which is what a few hundred milliseconds can look through. Programs are
// those of a dozen large repositories, whose linking they save.
func cacheLimit(kind string) int64 {
	switch kind {
	case cacheCompile:
		return 10e9
	case cacheLayers:
		return 500e6
	}
	return 250e6
}

// compileAge is how long the programs of a checkout are kept that is not
// compiled any more: most such are gone, with their branch or CI job.
const compileAge = 30 * 24 * time.Hour

func storeKinds() []string { return []string{cacheBases, cacheFacts, cacheLayers} }

// cache is where a kind of facts is remembered. Where that cannot be, it is said
// once.
func (p *Project) cache(kind string) cache.Store {
	s := cache.Store{Dir: p.cacheDir(kind), Limit: cacheLimit(kind), ReadOnly: p.DryRun}
	if err := s.Check(); err != nil {
		p.noteCache(err)
	}
	return s
}

func (p *Project) noteCache(err error) {
	p.cacheNote.Do(func() { p.console.Note("nothing new is kept for the next run: %v", err) })
}

// keep is where compiled programs are kept between runs: a directory per
// checkout, outside of it, since everything inside may be a build context. Where
// none can be, it is one for this run. Release it at the end.
func (p *Project) keep() (dir string, release func(), err error) {
	if p.DryRun {
		return p.trees().Path(p.Root), func() {}, nil
	}
	dir, release, err = p.trees().Use(p.Root)
	if err == nil {
		p.kept = true
		return dir, release, nil
	}
	if p.trees().Dir == "" {
		_, err = os.UserCacheDir()
	}
	p.noteCache(err)
	dir, err = os.MkdirTemp("", "archmage-compile-")
	return dir, func() { os.RemoveAll(dir) }, err
}

func (p *Project) trees() cache.Trees {
	return cache.Trees{Dir: p.cacheDir(cacheCompile), Limit: cacheLimit(cacheCompile), Age: compileAge}
}

// cacheDir is a directory of archmage's below the user's cache; "" where the
// user has none.
func (p *Project) cacheDir(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "archmage", name)
}

// Close ends the work on a repository: what is remembered is brought back within
// its limits.
func (p *Project) Close() {
	if p.DryRun {
		return
	}
	for _, kind := range storeKinds() {
		cache.Store{Dir: p.cacheDir(kind), Limit: cacheLimit(kind)}.Prune()
	}
	if p.kept {
		p.trees().Prune()
	}
}

// cached is a kind of what archmage remembers.
type cached struct {
	kind, dir string
	usage     func() cache.Usage
	clear     func() (cache.Usage, error)
}

// caches are all kinds, sorted; none where the user has no directory for them.
func (p *Project) caches() []cached {
	if p.cacheDir("") == "" {
		return nil
	}
	trees := p.trees()
	list := []cached{{cacheCompile, trees.Dir, trees.Usage, trees.Clear}}
	for _, kind := range storeKinds() {
		s := cache.Store{Dir: p.cacheDir(kind)}
		list = append(list, cached{kind, s.Dir, s.Usage, s.Clear})
	}
	slices.SortFunc(list, func(a, b cached) int { return cmp.Compare(a.kind, b.kind) })
	return list
}

// printCaches writes what is remembered, and where, as a table.
func (p *Project) printCaches(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "\nCACHE\tFILES\tSIZE\tLIMIT\tDIRECTORY")
	list := p.caches()
	for _, c := range list {
		u := c.usage()
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", c.kind, u.Entries, size(u.Bytes), size(cacheLimit(c.kind)), c.dir)
	}
	if len(list) == 0 {
		fmt.Fprintln(t, "-\t-\t-\t-\tnone: the environment has no HOME")
	}
	return t.Flush()
}
