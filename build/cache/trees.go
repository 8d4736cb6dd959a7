package cache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ErrInUse is that another process works in a directory, which therefore stays.
var ErrInUse = errors.New("in use by another process")

// Trees is a directory of directories, one a key. Who fills one holds it, see
// [Trees.Use], and what is held is not removed. Where the file system has no
// locks, and on Windows, what was used within the last day is not removed.
type Trees struct {
	Dir   string        // made with mode 0700 when first used
	Limit int64         // bytes of disk that [Trees.Prune] leaves, or a single tree; 0 is no limit
	Age   time.Duration // since the last use, after which Prune removes a tree, or a directory in one; 0 is never
}

// Path is the directory under key, which may not exist.
func (t Trees) Path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(t.Dir, hex.EncodeToString(sum[:8]))
}

// Use makes the directory under key and holds it until release. Several
// processes may hold one.
func (t Trees) Use(key string) (dir string, release func(), err error) {
	if t.Dir == "" {
		return "", nil, &os.PathError{Op: "use", Path: "cache", Err: fs.ErrNotExist}
	}
	dir = t.Path(key)
	for range 100 { // an end, should somebody do nothing but remove it
		release, err = t.hold(dir)
		if !errors.Is(err, fs.ErrNotExist) {
			return dir, release, err
		}
	}
	return "", nil, err
}

// hold is one attempt at a directory. Where somebody removes it meanwhile, the
// error is [fs.ErrNotExist].
func (t Trees) hold(dir string) (release func(), err error) {
	if err := check(t.Dir); err != nil {
		return nil, err
	}
	if err := check(dir); err != nil {
		return nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	_ = share(f) // without locks its time tells that it is in use
	if !is(f, dir) {
		f.Close()
		return nil, &os.PathError{Op: "use", Path: dir, Err: fs.ErrNotExist}
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now)
	return func() { f.Close() }, nil
}

// is reports whether path still names f.
func is(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

// Remove removes the directory under key, if there is one.
func (t Trees) Remove(key string) error {
	if t.Dir == "" {
		return nil
	}
	return holding(t.Path(key), func(dir string) error { return os.RemoveAll(dir) })
}

// holding does something to a directory that nobody uses, and keeps everybody
// from using it meanwhile.
func holding(dir string, do func(dir string) error) error {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if !claimed(f, dir) {
		return &os.PathError{Op: "remove", Path: dir, Err: ErrInUse}
	}
	return do(dir)
}

// claimed takes a directory for itself, if that is still the one at dir: it may
// have been removed, and another one made and taken, since it was opened.
func claimed(f *os.File, dir string) bool {
	info, err := f.Stat()
	return err == nil && claim(f, time.Since(info.ModTime()) > fresh) && is(f, dir)
}

// tree is a directory as it is found.
type tree struct {
	path string
	used time.Time
	Usage
}

// list are the trees that there are, the last used first.
func (t Trees) list() []tree {
	var found []tree
	entries, _ := os.ReadDir(t.Dir)
	for _, d := range entries {
		info, err := d.Info()
		if err != nil || !d.IsDir() || !isHex(d.Name(), 16) {
			continue
		}
		found = append(found, tree{path: filepath.Join(t.Dir, d.Name()), used: info.ModTime()})
	}
	slices.SortFunc(found, func(a, b tree) int { return cmp.Or(b.used.Compare(a.used), cmp.Compare(a.path, b.path)) })
	for i := range found {
		found[i].Usage = measure(found[i].path)
	}
	return found
}

// measure is what a directory holds.
func measure(dir string) (u Usage) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				u.add(onDisk(info.Size()))
			}
		}
		return nil
	})
	return u
}

// Prune removes the trees that were not used for t.Age, and of the others those
// used least recently until t.Limit holds. The one used last stays, whatever its
// size: it would be made again at once. Directories in a tree have an age too.
func (t Trees) Prune() {
	if !t.ours() {
		return
	}
	var total int64
	for i, tr := range t.list() {
		total += tr.Bytes
		if i > 0 && t.Limit > 0 && total > t.Limit || t.tooOld(tr.used) {
			if holding(tr.path, os.RemoveAll) == nil {
				total -= tr.Bytes
			}
			continue
		}
		_ = holding(tr.path, t.pruneWithin)
	}
}

func (t Trees) ours() bool {
	root, err := enter(t.Dir, trusted)
	if err != nil {
		return false
	}
	return root.Close() == nil
}

func (t Trees) tooOld(used time.Time) bool { return t.Age > 0 && time.Since(used) > t.Age }

// pruneWithin removes what has its last use long behind it of a tree that is in
// use otherwise.
func (t Trees) pruneWithin(dir string) error {
	before, err := os.Stat(dir)
	if err != nil {
		return err
	}
	entries, _ := os.ReadDir(dir)
	for _, d := range entries {
		if info, err := d.Info(); err == nil && d.IsDir() && t.tooOld(info.ModTime()) {
			_ = os.RemoveAll(filepath.Join(dir, d.Name()))
		}
	}
	return os.Chtimes(dir, before.ModTime(), before.ModTime()) // this was no use
}

// Usage is what all trees hold: files, and their bytes. Those that have another
// name elsewhere count too.
func (t Trees) Usage() (u Usage) {
	for _, tr := range t.list() {
		u.Entries += tr.Entries
		u.Bytes += tr.Bytes
	}
	return u
}

// Clear removes all trees that nobody uses, and says what they held. Those in use
// are errors that are [ErrInUse]. What else lies there stays.
func (t Trees) Clear() (freed Usage, err error) {
	if t.Dir == "" {
		return freed, nil
	}
	root, err := enter(t.Dir, anybodys)
	if errors.Is(err, fs.ErrNotExist) {
		return freed, nil
	}
	if err != nil {
		return freed, err
	}
	defer root.Close()
	var errs []error
	for _, tr := range t.list() {
		if err := holding(tr.path, os.RemoveAll); err != nil {
			errs = append(errs, err)
			continue
		}
		freed.Entries += tr.Entries
		freed.Bytes += tr.Bytes
	}
	_ = os.Remove(t.Dir) // unless there is something in it, of whomever
	return freed, errors.Join(errs...)
}
