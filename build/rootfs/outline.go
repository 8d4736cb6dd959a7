package rootfs

import (
	"archive/tar"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Outline writes what [WriteLayer] would write of the same entries, but for what
// regular files hold: their headers, byte for byte, and after that of each file
// with bytes what content writes to name these. Nothing is opened here. Layers
// with equal outlines are equal, as far as the names that content gives are the
// names of equal bytes.
func Outline(w io.Writer, entries []Entry, epoch time.Time, content func(io.Writer, *Node) error) error {
	l := newLayerWriter(epoch)
	// A writer for each header: one for all would wait for the bytes between.
	l.put = func(h *tar.Header) error { return tar.NewWriter(w).WriteHeader(h) }
	l.fill = func(n *Node) error {
		if n.Size == 0 {
			return nil
		}
		return content(w, n)
	}
	return l.all(entries)
}

// Listed is entries as [ReadLayer] finds them in the layer that they make, for
// who would otherwise read back what was just written: sorted, each file's
// content as data wants it, and without what a layer cannot hold. Not ok is a
// layer that has to be read, since its names mean something else there (a file
// called .wh.x hides x), or are refused.
func Listed(entries []Entry, data func(*Node) Content) (listed []Entry, ok bool) {
	if len(entries) > maxEntries {
		return nil, false
	}
	done := map[*Node]*Node{} // keeps hard links
	for _, x := range sortEntries(entries) {
		switch {
		case !readsAsWritten(x):
			return nil, false
		case x.Node != nil && x.Node.Mode.Type() == fs.ModeSocket:
			continue
		case x.Node != nil && x.Node.Mode.IsRegular():
			x.Node = listedFile(x.Node, done, data)
		}
		listed = append(listed, x)
	}
	return listed, true
}

func readsAsWritten(x Entry) bool {
	base := path.Base(x.Path)
	return !strings.HasPrefix(base, whiteout) && len(x.Path) <= maxPath && len(base) <= maxName &&
		(x.Node == nil || len(x.Node.Link) <= maxPath && len(x.Node.Cap) <= maxCap)
}

func listedFile(n *Node, done map[*Node]*Node, data func(*Node) Content) *Node {
	if known := done[n]; known != nil {
		return known
	}
	c := n.clone(nil)
	c.Data = nil
	if n.Size > 0 {
		c.Data = data(n)
	}
	done[n] = c
	return c
}
