package rootfs

import (
	"bytes"
	"reflect"
	"slices"
)

// Diff lists what has to be laid over lower to get upper, sorted as a walk
// meets it. The directories above a listed entry are listed too, with the
// attributes that they have in upper; the root never is, so its attributes are
// no part of a layer.
//
// A directory counts as changed by its mode and owner, not by its time. A file
// is left out where attributes and time are equal and its content is the same
// object, so nothing is read; files that merely hold the same bytes are listed.
// What is gone gets a whiteout, entry by entry, in a directory that was removed
// and made again too: no entry is ever opaque, as in BuildKit's overlay differ.
// What a file replaces needs no whiteout, nor does what a directory replaces.
func Diff(lower, upper Tree) []Entry {
	var d differ
	d.below("/", lower.top(), upper.top())
	return d.entries
}

type differ struct{ entries []Entry }

// below compares what two directories hold; lower is nil where there was none.
func (d *differ) below(dir string, lower, upper *Node) {
	if lower == upper {
		return
	}
	for _, name := range unionNames(lower, upper) {
		d.entry(join(dir, name), lower.Child(name), upper.Child(name))
	}
}

// entry compares what p names in both trees; nil is nothing.
func (d *differ) entry(p string, lower, upper *Node) {
	switch {
	case lower == upper:
	case upper == nil:
		d.entries = append(d.entries, Entry{Path: p})
	case upper.IsDir():
		d.directory(p, lower, upper)
	case lower == nil || !same(lower, upper):
		d.entries = append(d.entries, Entry{Path: p, Node: upper})
	}
}

func (d *differ) directory(p string, lower, upper *Node) {
	if !lower.IsDir() {
		lower = nil
	}
	at := len(d.entries)
	d.entries = append(d.entries, Entry{Path: p, Node: upper.bare()})
	d.below(p, lower, upper)
	if len(d.entries) == at+1 && lower != nil && sameAttributes(lower, upper) {
		d.entries = d.entries[:at]
	}
}

func unionNames(a, b *Node) []string {
	names := append(a.Names(), b.Names()...)
	slices.Sort(names)
	return slices.Compact(names)
}

func sameAttributes(a, b *Node) bool {
	return a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID && bytes.Equal(a.Cap, b.Cap)
}

func same(a, b *Node) bool {
	return sameAttributes(a, b) && a.ModTime.Equal(b.ModTime) && a.Link == b.Link &&
		a.Major == b.Major && a.Minor == b.Minor && a.Size == b.Size && sameContent(a, b)
}

// sameContent relies on == of contents, which must not be asked of those whose
// type has none, such as Bytes.
func sameContent(a, b *Node) bool {
	if a.Size == 0 {
		return true
	}
	v := reflect.ValueOf(a.Data)
	return v.IsValid() && v.Comparable() && a.Data == b.Data
}
