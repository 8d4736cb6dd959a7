package verify

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/moby/patternmatcher"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// contexts remembers what was read of build contexts, since the platforms of an
// image, and most images of a repository, ask for the same.
type contexts struct {
	mu   sync.Mutex
	list []*sources
}

// sources is one directory that is a build context. Any number of images may
// ask at once.
type sources struct {
	mu    sync.Mutex
	dir   *os.Root
	path  string
	bin   binaries // made before the build
	root  *os.Root // nil where it cannot be opened
	files map[string]entry
	trees map[string]tried
	drop  map[string]*patternmatcher.PatternMatcher
}

type tried struct {
	tree rootfs.Tree
	err  error
}

// close gives back what was opened. No tree may be used any more.
func (c *contexts) close() {
	for _, s := range c.list {
		if s.root != nil {
			_ = s.root.Close()
		}
	}
}

// open is the context of a subject that has a directory.
func (c *contexts) open(s Subject, bin binaries) *sources {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, have := range c.list {
		if have.dir == s.Dir && have.path == s.Context && have.bin.same(bin) {
			return have
		}
	}
	n := &sources{
		dir: s.Dir, path: s.Context, bin: bin, files: map[string]entry{}, trees: map[string]tried{},
		drop: map[string]*patternmatcher.PatternMatcher{},
	}
	n.root, _ = s.Dir.OpenRoot(path.Clean(s.Context))
	c.list = append(c.list, n)
	return n
}

// reading makes the state use what other subjects have read.
func (s *state) reading(c *contexts) *state {
	if s.Dir != nil {
		s.read = c.open(s.Subject, s.bin)
	}
	return s
}

// contextDir is a context as one operation sees it: without what its ignore file
// drops, and with the binaries that are made before the build.
type contextDir struct {
	*sources
	exclude []string
	ignore  *patternmatcher.PatternMatcher
}

// context is nil where it cannot be known.
func (g *grower) context(x *dockerfile.Context) *contextDir {
	if g.st.foreign || x.Name != "context" || g.st.read.root == nil {
		return nil
	}
	return &contextDir{g.st.read, x.Exclude, g.st.read.matcher(x.Exclude)}
}

func (s *sources) matcher(patterns []string) *patternmatcher.PatternMatcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.Join(patterns, "\x00")
	m, ok := s.drop[key]
	if !ok {
		m = matcher(patterns)
		s.drop[key] = m
	}
	return m
}

// entry is what a path without wildcards names.
type entry struct {
	kind entryKind
	node *rootfs.Node // of aNode
}

type entryKind int

const (
	aGap       entryKind = iota // nothing is there, or nothing is sent
	aNode                       // a regular file
	aDirectory                  // below which there may be more when the build runs
	aPuzzle                     // something else, or below a link
)

func (d *contextDir) entry(p string) entry {
	d.mu.Lock()
	defer d.mu.Unlock() // a matcher is for one goroutine
	e := d.lookup(p)
	if e.kind == aNode && drops(d.ignore, p) {
		e.kind = aGap
	}
	return e
}

func (s *sources) lookup(p string) entry {
	switch {
	case p == ".":
		return entry{kind: aDirectory}
	case s.made(p):
		return entry{aNode, unbuilt()}
	}
	e, ok := s.files[p]
	if !ok {
		e = s.lstat(p)
		s.files[p] = e
	}
	return e
}

// made reports whether a binary is written to p before the build.
func (s *sources) made(p string) bool { return s.bin.file[p] }

// same reports whether two subjects have the same binaries.
func (b binaries) same(o binaries) bool {
	return b.form == o.form && slices.Equal(b.commands, o.commands) && slices.Equal(b.planned, o.planned)
}

// unbuilt is a binary that is not there yet.
func unbuilt() *rootfs.Node { return &rootfs.Node{Mode: 0o755} }

func (s *sources) lstat(p string) entry {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if e := s.lookup(dir); e.kind != aDirectory {
			if e.kind == aNode {
				e = entry{}
			}
			return e
		}
	}
	info, err := s.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.bin.below(p):
		return entry{kind: aDirectory}
	case errors.Is(err, fs.ErrNotExist):
		return entry{}
	case err != nil:
		return entry{kind: aPuzzle}
	case info.IsDir():
		return entry{kind: aDirectory}
	case info.Mode().IsRegular():
		return entry{aNode, &rootfs.Node{Mode: info.Mode(), Size: info.Size(), Data: contextFile{s.root, p}}}
	}
	return entry{kind: aPuzzle}
}

// contextFile is the content of a file of the context.
type contextFile struct {
	root *os.Root
	name string
}

// Open implements [rootfs.Content].
func (f contextFile) Open() (io.ReadCloser, error) { return f.root.Open(f.name) }

// tree is the context as the build gets it, reduced to the paths, which may hold
// wildcards, and without what git keeps. Binaries that they name are in it.
func (d *contextDir) tree(follow []string) (rootfs.Tree, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := strings.Join(follow, "\x00") + "\x00\x00" + strings.Join(d.exclude, "\x00")
	t, ok := d.trees[key]
	if !ok {
		t.tree, t.err = d.walk(follow)
		d.trees[key] = t
	}
	return t.tree, t.err
}

func (d *contextDir) walk(follow []string) (rootfs.Tree, error) {
	exclude := append(slices.Clip(d.exclude), ".git")
	tree, err := rootfs.Context(context.Background(), d.root, follow, exclude)
	if err != nil {
		return tree, err
	}
	e := tree.Edit()
	for _, m := range d.bin.made {
		for _, p := range m.paths {
			if drops(d.ignore, p) || !slices.ContainsFunc(follow, func(f string) bool { return takes(f, p) }) {
				continue
			}
			at, err := e.Resolve("/", p, true)
			if err != nil {
				return tree, err
			}
			if err := errors.Join(e.MkdirAll(path.Dir(at), 0o755, nil), e.Put(at, unbuilt())); err != nil {
				return tree, err
			}
		}
	}
	return e.Tree(), nil
}
