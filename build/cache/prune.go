package cache

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Usage is what a cache holds.
type Usage struct {
	Entries int
	Bytes   int64 // of disk, in blocks of 4096
}

func (u *Usage) add(bytes int64) {
	u.Entries++
	u.Bytes += bytes
}

// onDisk is what a file of this size takes of a disk. Small ones take a block.
func onDisk(size int64) int64 {
	const block = 4096
	return (size + block - 1) / block * block
}

// abandoned is the age at which a temporary file has no writer any more. Taking
// it from one that is merely slow costs that one its entry, and nothing else.
const abandoned = time.Hour

// stamp is a file whose time is that of the directory when it was last pruned:
// where they agree, nothing was written since.
const stamp = ".pruned"

// interval is how much later a write has to be for pruning again. Listing a store
// that is full takes a tenth of a second, which runs that follow each other would
// all pay; what ten minutes write is little beside the limit.
const interval = 10 * time.Minute

// entry is a file of a store.
type entry struct {
	name string
	size int64 // on disk
	used time.Time
}

// Prune removes what was used least recently until s.Limit holds, and what
// killed processes left. It is done again only where something was written ten
// minutes or more after the last time, which a look at the directory tells.
func (s Store) Prune() {
	root, err := enter(s.Dir, trusted)
	if err != nil {
		return
	}
	defer root.Close()
	was, err := root.Stat(".")
	if err != nil || recent(root, was.ModTime()) {
		return
	}
	kept := entries(root)
	slices.SortFunc(kept, func(a, b entry) int {
		return cmp.Or(b.used.Compare(a.used), strings.Compare(a.name, b.name))
	})
	var total int64
	for _, e := range kept { // the newest first
		total += e.size
		if s.Limit > 0 && total > s.Limit || e.isTemporary() && time.Since(e.used) > abandoned {
			total -= e.size
			_ = root.Remove(e.name)
		}
	}
	_ = root.Chtimes(stamp, was.ModTime(), was.ModTime())
}

// recent reports whether a store that was last written to at this time need not
// be pruned again. It makes the stamp where there is none.
func recent(root *os.Root, written time.Time) bool {
	info, err := root.Lstat(stamp)
	if errors.Is(err, fs.ErrNotExist) {
		_ = write(root, stamp, nil)
	}
	if err != nil {
		return false
	}
	since := written.Sub(info.ModTime())
	return since >= 0 && since < interval
}

func (e entry) isTemporary() bool { return strings.HasPrefix(e.name, temporary) }

// entries lists what a store has written and nothing else that may lie there.
func entries(root *os.Root) []entry {
	dir, err := root.Open(".")
	if err != nil {
		return nil
	}
	defer dir.Close()
	var list []entry
	names, _ := dir.ReadDir(-1)
	for _, d := range names {
		if d.IsDir() || !(isHex(d.Name(), 64) || strings.HasPrefix(d.Name(), temporary)) {
			continue
		}
		if info, err := d.Info(); err == nil { // else it is gone
			list = append(list, entry{d.Name(), onDisk(info.Size()), info.ModTime()})
		}
	}
	return list
}

func isHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

// Usage is what the store holds, to whomever its directory belongs.
func (s Store) Usage() (u Usage) {
	root, err := enter(s.Dir, anybodys)
	if err != nil {
		return u
	}
	defer root.Close()
	for _, e := range entries(root) {
		u.add(e.size)
	}
	return u
}

// Clear forgets everything and says what that was. Whoever else uses the store
// goes on without. Files that are not the store's stay.
func (s Store) Clear() (Usage, error) {
	var freed Usage
	root, err := enter(s.Dir, anybodys)
	if errors.Is(err, fs.ErrNotExist) {
		return freed, nil
	}
	if err != nil {
		return freed, err
	}
	defer root.Close()
	var errs []error
	for _, e := range entries(root) {
		switch err := root.Remove(e.name); {
		case err == nil:
			freed.add(e.size)
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		}
	}
	_ = root.Remove(stamp)
	_ = os.Remove(s.Dir) // unless there is something in it, of whomever
	return freed, errors.Join(errs...)
}

// anybodys accepts a directory that is not trusted: what is listed or removed in
// there is judged by its name.
func anybodys(fs.FileInfo) error { return nil }
