package rootfs

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// indexMagic is the format and its version: an index of another one is read as
// a damaged one, which costs reading the layer again.
const indexMagic = "archmage layer index 1\n"

// What an entry of an index has.
const (
	hasNode   = 1 << iota
	hasOpaque // Entry.Opaque
	hasLink   // a hard link: the entry's number follows
	hasTime   // ModTime is not the zero time
	hasData   // Data is a *Section
)

// EncodeIndex makes bytes of what [ReadLayer] returned with a nil data, for a
// cache: contents must be *[Section]s. [DecodeIndex] reads them.
//
// The form is a line that names it, the number of entries, and the entries.
// Numbers are varints; a path is the number of bytes that it shares with the one
// before, and the rest. It has no checksum: the cache has one.
func EncodeIndex(entries []Entry) ([]byte, error) {
	w := indexWriter{buf: []byte(indexMagic), seen: map[*Node]int{}}
	w.uint(uint64(len(entries)))
	for i, x := range entries {
		if err := w.entry(i, x); err != nil {
			return nil, fmt.Errorf("encode layer index: %s: %w", x.Path, err)
		}
	}
	return w.buf, nil
}

type indexWriter struct {
	buf  []byte
	seen map[*Node]int // number of the entry that has the node
	path string
}

func (w *indexWriter) uint(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }

func (w *indexWriter) text(s string) {
	w.uint(uint64(len(s)))
	w.buf = append(w.buf, s...)
}

func (w *indexWriter) entry(i int, x Entry) error {
	shared := 0
	for shared < min(len(x.Path), len(w.path)) && x.Path[shared] == w.path[shared] {
		shared++
	}
	w.uint(uint64(shared))
	w.text(x.Path[shared:])
	w.path = x.Path

	var flags byte
	if x.Opaque {
		flags |= hasOpaque
	}
	if x.Node == nil {
		w.buf = append(w.buf, flags)
		return nil
	}
	if first, ok := w.seen[x.Node]; ok {
		w.buf = append(w.buf, flags|hasNode|hasLink)
		w.uint(uint64(first))
		return nil
	}
	w.seen[x.Node] = i
	return w.node(flags|hasNode, x.Node)
}

func (w *indexWriter) node(flags byte, n *Node) error {
	s, ok := n.Data.(*Section)
	if ok {
		flags |= hasData
	} else if n.Data != nil {
		return errors.New("content is not a section of a layer")
	}
	if !n.ModTime.IsZero() {
		flags |= hasTime
	}
	w.buf = append(w.buf, flags)
	for _, v := range []uint64{uint64(n.Mode), uint64(n.UID), uint64(n.GID), uint64(n.Major), uint64(n.Minor), uint64(n.Size)} {
		w.uint(v)
	}
	if flags&hasTime != 0 {
		w.buf = binary.AppendVarint(w.buf, n.ModTime.Unix())
		w.uint(uint64(n.ModTime.Nanosecond()))
	}
	if flags&hasData != 0 {
		w.buf = binary.AppendVarint(w.buf, s.Off)
	}
	w.text(n.Link)
	w.text(string(n.Cap))
	return nil
}
