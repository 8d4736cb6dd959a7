package rootfs

import (
	"archive/tar"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strings"
	"syscall"
	"time"
)

// layerReader builds the tree of a layer alone. Its own files are in no other
// tree, so they may be changed after Put.
type layerReader struct {
	edit   *Editor
	data   func(off, size int64) Content
	limits layerLimits
	gone   map[string]bool // whiteouts, by the path that they remove
	opaque map[string]bool
	count  int
	text   int
}

// implied marks a directory that no header has listed.
const implied = fs.ModeIrregular

func (l *layerReader) add(h *tar.Header, off int64) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	if err := l.bound(h); err != nil {
		return err
	}
	name := clean(h.Name)
	if name == "/" {
		return nil // containerd leaves the root alone
	}
	dir, err := l.parent(path.Dir(name))
	if err != nil {
		return err
	}
	base := path.Base(name)
	switch gone, ok := strings.CutPrefix(base, whiteout); {
	case base == opaque:
		l.opaque[dir] = true
	case ok && (gone == "" || gone == "." || gone == ".."):
		return errors.New("whiteout of nothing")
	case ok:
		l.gone[join(dir, gone)] = true
	default:
		return l.put(join(dir, base), h, off)
	}
	return nil
}

// parent resolves the directory p through the layer's own links, and makes what
// is missing.
func (l *layerReader) parent(p string) (string, error) {
	p, err := l.edit.Resolve("/", p, true)
	if err != nil {
		return "", err
	}
	if len(p) > maxPath {
		return "", fmt.Errorf("directory longer than %d bytes, links resolved", maxPath)
	}
	dir := l.edit.claimRoot()
	for rest := p[1:]; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch kid := dir.kids[name]; {
		case kid == nil:
			if l.count++; l.count > l.limits.entries {
				return "", fmt.Errorf("more than %d entries", l.limits.entries)
			}
			dir.set(name, &Node{Mode: fs.ModeDir | implied | 0o755, owner: l.edit.own})
		case !kid.IsDir():
			return "", pathError("mkdir", p, syscall.ENOTDIR)
		}
		dir = l.edit.claim(dir, name)
	}
	return p, nil
}

func (l *layerReader) put(p string, h *tar.Header, off int64) error {
	n := &Node{
		Mode: h.FileInfo().Mode() & (fs.ModePerm | special),
		UID:  h.Uid, GID: h.Gid,
		ModTime: bounded(h.ModTime),
	}
	if c := h.PAXRecords[capability]; c != "" {
		n.Cap = []byte(c)
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return l.dir(p, n)
	case tar.TypeLink:
		return l.link(p, h.Linkname, n)
	case tar.TypeReg:
		n.Size = h.Size
		n.Data = l.content(h, off)
	case tar.TypeSymlink:
		if h.Linkname == "" {
			return errors.New("symbolic link to nothing")
		}
		n.Mode, n.Link = fs.ModeSymlink|0o777, h.Linkname
	case tar.TypeFifo:
		n.Mode |= fs.ModeNamedPipe
	case tar.TypeBlock:
		n.Mode |= fs.ModeDevice
		n.Major, n.Minor = h.Devmajor, h.Devminor
	case tar.TypeChar:
		n.Mode |= fs.ModeDevice | fs.ModeCharDevice
		n.Major, n.Minor = h.Devmajor, h.Devminor
	default:
		return fmt.Errorf("unhandled tar header type %q", h.Typeflag)
	}
	return l.edit.Put(p, n)
}

func (l *layerReader) content(h *tar.Header, off int64) Content {
	if h.Size == 0 {
		return nil
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return &Section{-1, h.Size}
		}
	}
	return l.data(off, h.Size)
}

func (l *layerReader) dir(p string, n *Node) error {
	n.Mode |= fs.ModeDir
	if old, err := l.edit.Lstat(p); err != nil || !old.IsDir() {
		delete(l.gone, p) // the directory takes the whiteout's place, and overlayfs merges it
		return l.edit.Put(p, n)
	}
	dir, err := l.edit.Change(p)
	if err != nil {
		return err
	}
	dir.Mode &^= implied
	dir.like(n)
	return nil
}

// link gives the file at target the name p and the attributes of header, for
// all its names. What was at p is gone before target is looked up, as in
// containerd. A link at the end of target is not followed.
func (l *layerReader) link(p, target string, header *Node) error {
	to, err := l.edit.Resolve("/", clean(target), false)
	if err != nil {
		return err
	}
	n, err := l.edit.Lstat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && inside(to, p):
		return fmt.Errorf("hard link to %q, which is not in this layer", target)
	case err != nil:
		return err
	case n.IsDir():
		return fmt.Errorf("hard link to the directory %q", target)
	case n.IsLink():
		header.Mode = n.Mode
	}
	n.like(header)
	return l.edit.Put(p, n)
}

// bounded is what containerd makes of times that a file system may not hold.
func bounded(t time.Time) time.Time {
	if t.Unix() < 0 || t.Unix() > math.MaxInt64/int64(time.Second) {
		return time.Unix(0, 0).UTC()
	}
	return t.UTC()
}

// entries lists the finished tree. A whiteout below what became a file has
// nothing to hide, and one of what the layer has too hides only what is below.
func (l *layerReader) entries() []Entry {
	tree := l.edit.Tree()
	var list []Entry
	_ = tree.Walk("/", func(p string, n *Node) error { // fn returns no error, and / is there
		x := Entry{Path: p, Node: n}
		if n.IsDir() {
			x.Opaque = l.opaque[p] || l.gone[p]
			x.Node = n.bare()
		}
		if n.Mode&implied != 0 || p == "/" {
			x.Node = nil
		}
		if x.Node != nil || x.Opaque {
			list = append(list, x)
		}
		return nil
	})
	for p := range l.gone { // sorted below
		_, err := tree.Lstat(p)
		if dir, dirErr := tree.Lstat(path.Dir(p)); err != nil && dirErr == nil && dir.IsDir() {
			list = append(list, Entry{Path: p})
		}
	}
	return sortEntries(list)
}
