package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/moby/patternmatcher"
)

// notFoundError reads as BuildKit's own: "/bin/app": not found.
type notFoundError struct{ path string }

func (e notFoundError) Error() string        { return strconv.Quote(e.path) + ": not found" }
func (e notFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// filter is what one copy takes of its source, by --parents and --exclude.
type filter struct {
	include, exclude *patternmatcher.PatternMatcher // nil: everything, nothing
}

// verdict is what a filter says of one path. A child's verdict needs its
// parent's.
type verdict struct {
	included, excluded bool
	in, ex             patternmatcher.MatchInfo
}

func newFilter(include, exclude []string) (f filter, err error) {
	if len(include) > 0 {
		if f.include, err = patternmatcher.New(include); err != nil {
			return f, fmt.Errorf("parse include patterns %q: %w", include, err)
		}
	}
	if len(exclude) > 0 {
		if f.exclude, err = patternmatcher.New(exclude); err != nil {
			return f, fmt.Errorf("parse exclude patterns %q: %w", exclude, err)
		}
	}
	return f, nil
}

// judge decides on rel, a path relative to the copied source.
func (f filter) judge(rel string, parent verdict) (v verdict, err error) {
	v.included = true
	if f.include != nil {
		if v.included, v.in, err = f.include.MatchesUsingParentResults(rel, parent.in); err != nil {
			return v, fmt.Errorf("match include patterns: %w", err)
		}
	}
	if f.exclude != nil {
		if v.excluded, v.ex, err = f.exclude.MatchesUsingParentResults(rel, parent.ex); err != nil {
			return v, fmt.Errorf("match exclude patterns: %w", err)
		}
		v.included = v.included && !v.excluded
	}
	return v, nil
}

// exceptions says that something below an excluded directory may be taken.
func (f filter) exceptions() bool { return f.exclude != nil && f.exclude.Exclusions() }

func hasWildcards(name string) bool {
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '*', '?', '[':
			return true
		case '\\':
			i++
		}
	}
	return false
}

// splitWildcards cuts an absolute pattern before its first name with a
// wildcard; pattern is "" where there is none.
func splitWildcards(p string) (prefix, pattern string) {
	names := strings.Split(strings.TrimPrefix(path.Clean(p), "/"), "/")
	for i, name := range names {
		if hasWildcards(name) {
			return "/" + path.Join(names[:i]...), path.Join(names[i:]...)
		}
	}
	return path.Clean(p), ""
}

// expand lists what an absolute pattern matches in t, in the order of a walk.
// The part before the first wildcard is resolved, and so are links at its end
// where follow is set. A match is not searched for more matches, and links on
// the way are not entered. A broken pattern matches nothing.
func expand(t Tree, p string, follow bool) ([]string, error) {
	prefix, pattern := splitWildcards(p)
	if pattern == "" {
		return []string{prefix}, nil
	}
	from, err := t.Resolve("/", prefix, follow)
	if err != nil {
		return nil, err
	}
	top, err := lookup(t, from)
	if err != nil {
		return nil, err
	}
	if top == nil {
		return nil, pathError("lstat", from, syscall.ENOENT)
	}
	var out []string
	return matches(out, top, from, "", pattern), nil
}

func matches(out []string, dir *Node, at, rel, pattern string) []string {
	for _, name := range dir.Names() {
		p, r := join(at, name), path.Join(rel, name)
		if ok, _ := path.Match(pattern, r); ok {
			out = append(out, p)
		} else if kid := dir.Child(name); kid.IsDir() {
			out = matches(out, kid, p, r, pattern)
		}
	}
	return out
}

// lookup is Lstat with nil for what is not there.
func lookup(t interface {
	Lstat(string) (*Node, error)
}, p string,
) (*Node, error) {
	n, err := t.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return n, err
}
