// Package cache remembers things between runs, in a directory of the user.
//
// A [Store] holds small facts: a value under a key that names everything the
// value depends on, so that nothing in it is ever out of date. [Trees] holds
// directories that other programs fill. Both are bounded, and may be used by
// several processes at once.
//
// What cannot be read, or does not check out, is not remembered; what cannot be
// written is not remembered either. Neither is an error: a run without its cache
// is slower, and no different. A directory that somebody else may write to is
// not used at all.
package cache

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Store is a directory of facts. The zero value remembers nothing. Several
// goroutines and processes may use one directory: an entry is written whole and
// then named.
type Store struct {
	Dir   string // made with mode 0700 when first written to
	Limit int64  // bytes of disk that [Store.Prune] leaves; 0 is no limit

	ReadOnly bool // nothing new is remembered, and no use is noted
}

// temporary begins the names of entries that are being written.
const temporary = ".tmp-"

// fresh is how long an entry's time stands for its last use. A day is exact
// enough to tell what is used, and spares most reads a write.
const fresh = 24 * time.Hour

// Get is the value under key, and whether it is remembered. An entry that was
// damaged, or that belongs to another key, is not.
func (s Store) Get(key string) ([]byte, bool) {
	root, err := enter(s.Dir, trusted)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	name := entryName(key)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || s.tooLarge(info.Size()) {
		return nil, false
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return nil, false
	}
	value, ok := decode(key, data)
	if now := time.Now(); ok && !s.ReadOnly && now.Sub(info.ModTime()).Abs() > fresh {
		_ = root.Chtimes(name, now, now)
	}
	return value, ok
}

// Put remembers value under key, with mode 0600.
func (s Store) Put(key string, value []byte) {
	data := encode(key, value)
	if s.Dir == "" || s.ReadOnly || s.tooLarge(int64(len(data))) || os.MkdirAll(s.Dir, 0o700) != nil {
		return
	}
	root, err := enter(s.Dir, trusted)
	if err != nil {
		return
	}
	defer root.Close()
	name := temporary + rand.Text()
	if write(root, name, data) != nil || root.Rename(name, entryName(key)) != nil {
		_ = root.Remove(name)
	}
}

// tooLarge reports whether an entry would not survive [Store.Prune] even alone.
func (s Store) tooLarge(size int64) bool { return s.Limit > 0 && onDisk(size) > s.Limit }

func write(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Check says why the store remembers nothing, or nothing new: nil where it can.
// It makes the directory. The zero store, of which nothing is expected, is fine.
func (s Store) Check() error {
	if s.ReadOnly {
		return nil
	}
	return check(s.Dir)
}

func check(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := enter(dir, trusted)
	if err != nil {
		return err
	}
	return errors.Join(writable(dir), root.Close())
}

// enter opens a directory of archmage's: no link to one, and one that ok accepts.
// Nothing that is reached through the root lies outside of it.
func enter(dir string, ok func(fs.FileInfo) error) (*os.Root, error) {
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	if info, err := os.Lstat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, &os.PathError{Op: "use", Path: dir, Err: errors.New("not a directory")}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil {
		err = ok(info)
	}
	if err != nil {
		root.Close()
		return nil, &os.PathError{Op: "use", Path: dir, Err: err}
	}
	return root, nil
}

func entryName(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// encode is a digest of all that follows, the key with its length, the value.
func encode(key string, value []byte) []byte {
	data := make([]byte, sha256.Size, sha256.Size+binary.MaxVarintLen64+len(key)+len(value))
	data = binary.AppendUvarint(data, uint64(len(key)))
	data = append(append(data, key...), value...)
	sum := sha256.Sum256(data[sha256.Size:])
	copy(data, sum[:])
	return data
}

func decode(key string, data []byte) ([]byte, bool) {
	if len(data) < sha256.Size {
		return nil, false
	}
	sum, body := data[:sha256.Size], data[sha256.Size:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) {
		return nil, false
	}
	n, used := binary.Uvarint(body)
	if used <= 0 || n != uint64(len(key)) || len(body) < used+len(key) || string(body[used:used+len(key)]) != key {
		return nil, false
	}
	return body[used+len(key):], true
}
