package rootfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// DecodeIndex gives the entries that [EncodeIndex] was given; [Bind] makes
// their contents readable. An index of another version, or that no layer has, is
// an error: read the layer instead. It has to be undamaged.
func DecodeIndex(index []byte) ([]Entry, error) {
	body, ok := bytes.CutPrefix(index, []byte(indexMagic))
	if !ok {
		return nil, errors.New("decode layer index: not of this version")
	}
	entries, err := decodeEntries(body)
	if err != nil {
		return nil, fmt.Errorf("decode layer index: %w", err)
	}
	return entries, nil
}

func decodeEntries(body []byte) ([]Entry, error) {
	r := indexReader{rest: body}
	count := r.uint()
	if r.err != nil {
		return nil, r.err
	}
	if count > maxEntries || count > uint64(len(body)) {
		return nil, fmt.Errorf("%d entries in %d bytes", count, len(body))
	}
	entries := make([]Entry, 0, count)
	text := 0
	for range count {
		x := r.entry(entries)
		if r.err == nil && len(entries) > 0 && comparePaths(entries[len(entries)-1].Path, x.Path) >= 0 {
			r.err = errors.New("entries out of order")
		}
		if text += len(x.Path); text > maxText {
			r.err = errors.New("names too long")
		}
		if r.err != nil {
			return nil, fmt.Errorf("entry %d: %w", len(entries), r.err)
		}
		entries = append(entries, x)
	}
	if len(r.rest) > 0 {
		return nil, errors.New("bytes after the last entry")
	}
	return entries, nil
}

var errShort = errors.New("ends too early")

// indexReader reads fields until one is wrong; later ones are then zero.
type indexReader struct {
	rest []byte
	path string
	err  error
}

func (r *indexReader) take(n int) []byte {
	if n <= 0 || n > len(r.rest) || r.err != nil {
		if r.err == nil && n != 0 {
			r.err = errShort
		}
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *indexReader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		n = -1
	}
	if r.take(n) == nil {
		return 0
	}
	return v
}

func (r *indexReader) int() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		n = -1
	}
	if r.take(n) == nil {
		return 0
	}
	return v
}

func (r *indexReader) text() string { return string(r.take(int(min(r.uint(), maxText)))) }

func (r *indexReader) entry(before []Entry) Entry {
	shared := min(r.uint(), uint64(len(r.path)))
	r.path = r.path[:shared] + r.text()
	x := Entry{Path: r.path}
	if r.err == nil && x.Path != clean(x.Path) {
		r.err = errors.New("path is not clean")
	}
	var flags byte
	if b := r.take(1); b != nil {
		flags = b[0]
	}
	x.Opaque = flags&hasOpaque != 0
	switch {
	case flags&hasNode == 0:
	case flags&hasLink == 0:
		x.Node = r.node(flags)
	default:
		first := r.uint()
		if first >= uint64(len(before)) || before[first].Node == nil || before[first].Node.IsDir() {
			r.err = errors.New("hard link to no file")
			return x
		}
		x.Node = before[first].Node
	}
	return x
}

func (r *indexReader) node(flags byte) *Node {
	n := &Node{
		Mode: fs.FileMode(r.uint()), UID: int(r.uint()), GID: int(r.uint()),
		Major: int64(r.uint()), Minor: int64(r.uint()), Size: int64(r.uint()),
	}
	if flags&hasTime != 0 {
		n.ModTime = time.Unix(r.int(), int64(r.uint())).UTC()
	}
	if flags&hasData != 0 {
		n.Data = &Section{r.int(), n.Size}
	}
	n.Link = r.text()
	if c := r.text(); c != "" {
		n.Cap = []byte(c)
	}
	return n
}
