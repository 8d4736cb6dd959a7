package rootfs

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"
)

// CopySpec is one source of a COPY or ADD. Behaviour is that of BuildKit v0.34.2
// (its file operations and github.com/tonistiigi/fsutil/copy).
type CopySpec struct {
	Src  string // in the source tree; links among its directories are resolved there
	Dest string // absolute; a trailing slash, or "/.", says that it is a directory

	Owner *Owner // nil keeps the source's
	Mode  string // "" keeps the source's; octal ("0755") or symbolic ("u+x,go-r")

	Include, Exclude []string // patternmatcher patterns, relative to Src; empty: all, none
	RequiredPaths    []string // absolute; an included path must begin with each

	FollowSymlink      bool // a link at the end of Src is followed
	DirContents        bool // of a directory its content is copied, not the directory
	Unpack             bool // an archive is unpacked; needs Spool
	CreateDestPath     bool // false: the directory of Dest must be there
	Wildcard           bool // Src may hold wildcards
	AllowEmptyWildcard bool // a wildcard may match nothing
	AlwaysReplace      bool // what is in the way is removed, whatever it is

	// Unkeyed says that BuildKit would compute no cache key from the source,
	// and so not refuse what only the key notices: the source is the empty
	// tree, the result of an action of the same operation, or the very tree
	// that the operation starts from.
	Unkeyed bool

	Time  time.Time // for everything copied and made; zero keeps the source's, and gives made directories none
	Spool *Spool    // where contents of unpacked archives go
}

// Copy copies from src into e. Contents are not read, except of archives to
// unpack. After an error e holds part of the copy and should be dropped.
//
// A missing source is [fs.ErrNotExist].
func Copy(ctx context.Context, e *Editor, src Tree, c CopySpec) error {
	if err := copySources(ctx, e, src, c); err != nil {
		return fmt.Errorf("copy %s to %s: %w", c.Src, c.Dest, err)
	}
	return nil
}

func copySources(ctx context.Context, e *Editor, src Tree, c CopySpec) error {
	f, err := newFilter(c.Include, c.Exclude)
	if err != nil {
		return err
	}
	mode, err := parseChmod(c.Mode)
	if err != nil {
		return err
	}
	if err := checkKey(src, c, f); err != nil {
		return err
	}
	sources, err := findSources(e, src, c)
	if err != nil {
		return err
	}
	for _, s := range sources {
		// Each match is a copy of its own, so hard links across matches are lost.
		one := copier{e: e, src: src, spec: c, filter: f, chmod: mode, links: map[*Node]*Node{}}
		if err := one.copy(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func findSources(e *Editor, src Tree, c CopySpec) ([]string, error) {
	if !c.CreateDestPath {
		to, err := e.Resolve("/", c.Dest, true)
		if err != nil {
			return nil, err
		}
		if _, err := e.Lstat(path.Dir(to)); err != nil {
			return nil, err
		}
	}
	p := cleanSlash(c.Src)
	if !c.Wildcard {
		return []string{p}, nil
	}
	sources, err := expand(src, p, c.FollowSymlink)
	if err == nil && len(sources) == 0 && !c.AllowEmptyWildcard {
		err = notFoundError{p}
	}
	return sources, err
}

// cleanSlash is clean, but keeps a trailing slash and a trailing "/.".
func cleanSlash(p string) string {
	c := clean(p)
	switch {
	case strings.HasSuffix(p, "/.") && c == "/":
		return "/."
	case strings.HasSuffix(p, "/."):
		return c + "/."
	case strings.HasSuffix(p, "/") && c != "/":
		return c + "/"
	}
	return c
}

// copier copies one source.
type copier struct {
	e      *Editor
	src    Tree
	spec   CopySpec
	filter filter
	chmod  chmod

	links   map[*Node]*Node // files copied so far, by source: more names of it become hard links
	pending []pendingDir    // directories down to the current one
}

func (c *copier) copy(ctx context.Context, src string) error {
	dest := cleanSlash(c.spec.Dest)
	if c.spec.Unpack {
		done, err := c.unpack(ctx, src, dest)
		if done || err != nil {
			return err
		}
	}
	target, err := c.makeDestDir(dest)
	if err != nil {
		return err
	}
	from, err := c.src.Resolve("/", clean(src), c.spec.FollowSymlink)
	if err != nil {
		return err
	}
	n, err := c.src.Lstat(from)
	if err != nil {
		return err
	}
	if target, err = c.target(n, src, target); err != nil {
		return err
	}
	return c.node(ctx, n, "", target, verdict{included: true})
}

// makeDestDir makes the directory that the destination names or lies in, and
// resolves the destination: through links at its end too, dangling or not.
func (c *copier) makeDestDir(dest string) (string, error) {
	dir := dest
	if !strings.HasSuffix(dest, "/") && !strings.HasSuffix(dest, "/.") {
		dir = path.Dir(dest)
	}
	dir, err := c.e.Resolve("/", dir, true)
	if err != nil {
		return "", err
	}
	if err := c.mkdirAll(dir); err != nil {
		return "", err
	}
	return c.e.Resolve("/", dest, true)
}

// target decides whether n goes to dest or into it, and makes what is missing
// above, for the content of a directory the destination too. That is why a new
// top directory has 0755 and not its source's mode.
func (c *copier) target(n *Node, src, dest string) (string, error) {
	have, err := lookup(c.e, dest)
	if err != nil {
		return "", err
	}
	contents := n.IsDir() && c.spec.DirContents
	if n.IsDir() && !contents && have != nil || !n.IsDir() && have.IsDir() {
		dest = path.Join(dest, path.Base(src))
	}
	dir := path.Dir(dest)
	if contents && have == nil {
		dir = dest
	}
	return dest, c.mkdirAll(dir)
}

func (c *copier) mkdirAll(dir string) error {
	return mkdirAll(c.e, dir, Mkdir{Mode: c.chmod.made(), Owner: c.spec.Owner, Time: c.spec.Time})
}
