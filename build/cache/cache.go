// Package cache remembers small facts between runs, in a directory of the user.
//
// A fact is a value under a key that names everything the value depends on, so
// that nothing in here is ever out of date. What cannot be read, or does not
// check out, is not remembered; what cannot be written is not remembered either.
// Neither is an error: a run without its cache is slower, and no different.
package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
)

// Store is a directory of facts. The zero value remembers nothing. Several
// goroutines and processes may use one directory: an entry is written whole and
// then named.
type Store struct {
	Dir   string // made with mode 0700 when first written to
	Limit int64  // bytes that [Store.Prune] leaves; 0 is no limit
}

// Get is the value under key, and whether it is remembered. An entry that was
// damaged, or that belongs to another key, is not.
func (s Store) Get(key string) ([]byte, bool) {
	if s.Dir == "" {
		return nil, false
	}
	data, err := os.ReadFile(s.path(key))
	if err != nil {
		return nil, false
	}
	return decode(key, data)
}

// Put remembers value under key.
func (s Store) Put(key string, value []byte) {
	if s.Dir == "" || os.MkdirAll(s.Dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(s.Dir, "new-")
	if err != nil {
		return
	}
	_, err = f.Write(encode(key, value))
	if f.Close() != nil || err != nil || os.Rename(f.Name(), s.path(key)) != nil {
		os.Remove(f.Name())
	}
}

func (s Store) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:]))
}

// encode is a digest of all that follows, the key with its length, the value.
func encode(key string, value []byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(key)))
	body = append(append(body, key...), value...)
	sum := sha256.Sum256(body)
	return append(sum[:], body...)
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
