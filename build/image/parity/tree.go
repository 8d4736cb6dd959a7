package parity

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// Node is a file as an image holds it. Names that are hard links of each other
// share one.
type Node struct {
	Type         string // dir, file, sym, fifo, chr, blk
	Mode         int64  // permission bits with suid, sgid, sticky
	UID, GID     int
	Size         int64
	Sum          string // SHA-256 of a file's content
	Link         string
	Major, Minor int64
	Xattrs       map[string]string
	ModTime      time.Time
}

// Tree is a merged file tree: clean absolute paths, the root being "/".
type Tree map[string]*Node

// NewTree is the empty root that layers are applied to.
func NewTree() Tree { return Tree{"/": {Type: "dir", Mode: 0o755, ModTime: time.Unix(0, 0)}} }

var treeTypes = map[byte]string{
	tar.TypeDir: "dir", tar.TypeReg: "file", tar.TypeSymlink: "sym",
	tar.TypeFifo: "fifo", tar.TypeChar: "chr", tar.TypeBlock: "blk",
}

type layerEntry struct {
	header *tar.Header
	at     string
	sum    string
}

// Apply changes t as a runtime does that unpacks the layer on top of it:
// whiteouts first, since they hide lower layers only, wherever they stand; then
// the entries in order.
func (t Tree) Apply(layer []byte) error {
	entries, err := readEntries(layer)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir, name := path.Split(e.at)
		switch hidden, isWhiteout := strings.CutPrefix(name, ".wh."); {
		case name == ".wh..wh..opq":
			t.removeBelow(path.Clean(dir))
		case isWhiteout && !strings.HasPrefix(hidden, ".wh."):
			t.remove(path.Join(dir, hidden))
		}
	}
	own := Tree{}
	for _, e := range entries {
		if strings.HasPrefix(path.Base(e.at), ".wh.") {
			continue
		}
		if err := t.put(e, own); err != nil {
			return err
		}
	}
	return nil
}

func readEntries(layer []byte) ([]layerEntry, error) {
	var entries []layerEntry
	for r := tar.NewReader(bytes.NewReader(layer)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read layer: %w", err)
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, r); err != nil {
			return nil, fmt.Errorf("read %s: %w", h.Name, err)
		}
		if h.Typeflag != tar.TypeXGlobalHeader {
			entries = append(entries, layerEntry{h, path.Join("/", h.Name), fmt.Sprintf("%x", sum.Sum(nil))})
		}
	}
}

// put adds one entry. own holds what this layer has added so far.
func (t Tree) put(e layerEntry, own Tree) error {
	t.makeParents(path.Dir(e.at), own)
	var n *Node
	if e.header.Typeflag == tar.TypeLink {
		// Containers unpack layers one by one, so the target is of the same layer.
		if n = own[path.Join("/", e.header.Linkname)]; n == nil || n.Type == "dir" {
			return fmt.Errorf("link %s: this layer has no file %s", e.at, e.header.Linkname)
		}
	} else {
		n = &Node{Type: treeTypes[e.header.Typeflag]}
		if n.Type == "" {
			return fmt.Errorf("entry %s: unknown type %q", e.at, e.header.Typeflag)
		}
	}
	n.take(e)
	if old := t[e.at]; old != nil && (old.Type != "dir" || n.Type != "dir") {
		t.remove(e.at)
	}
	t[e.at], own[e.at] = n, n
	return nil
}

// take sets what the header says. A hard link's header counts for the file that
// all its names share.
func (n *Node) take(e layerEntry) {
	h := e.header
	n.Mode, n.UID, n.GID, n.ModTime = h.Mode&0o7777, h.Uid, h.Gid, h.ModTime
	if h.Typeflag == tar.TypeLink {
		return
	}
	n.Link = h.Linkname
	if n.Type == "file" {
		n.Size, n.Sum = h.Size, e.sum
	}
	if n.Type == "chr" || n.Type == "blk" {
		n.Major, n.Minor = h.Devmajor, h.Devminor
	}
	for key, value := range h.PAXRecords {
		if name, ok := strings.CutPrefix(key, "SCHILY.xattr."); ok {
			if n.Xattrs == nil {
				n.Xattrs = map[string]string{}
			}
			n.Xattrs[name] = value
		}
	}
}

// makeParents makes the directories that a layer implies. Anything else in their
// place goes away, a symbolic link too.
func (t Tree) makeParents(dir string, own Tree) {
	if n := t[dir]; n != nil && n.Type == "dir" {
		return
	}
	t.makeParents(path.Dir(dir), own)
	t.remove(dir)
	n := &Node{Type: "dir", Mode: 0o755, ModTime: time.Unix(0, 0)}
	t[dir], own[dir] = n, n
}

func (t Tree) remove(at string) {
	t.removeBelow(at)
	if at != "/" {
		delete(t, at)
	}
}

func (t Tree) removeBelow(dir string) {
	prefix := strings.TrimSuffix(dir, "/") + "/"
	for at := range t {
		if strings.HasPrefix(at, prefix) && at != "/" {
			delete(t, at)
		}
	}
}

// links maps every path of a file with several names to all of them, sorted.
func (t Tree) links() map[string]string {
	names := map[*Node][]string{}
	for at, n := range t {
		names[n] = append(names[n], at)
	}
	out := map[string]string{}
	for _, all := range names {
		slices.Sort(all)
		for _, at := range all {
			if len(all) > 1 {
				out[at] = strings.Join(all, " ")
			}
		}
	}
	return out
}
