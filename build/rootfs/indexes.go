package rootfs

import (
	"os"
	"path/filepath"
	"strings"
)

// Indexes is a directory that remembers what layers list, by the digest of the
// layer (sha256:…). Nearly every COPY onto a base has to know whether its
// destination is a directory or a link, and with this the base is read for that
// once, not once per run. "" remembers nothing.
//
// An entry is written whole and then named, so several processes may share the
// directory; one that does not check out is read anew. What cannot be written is
// not remembered, and no error.
type Indexes string

func (x Indexes) path(digest string) string {
	return filepath.Join(string(x), strings.ReplaceAll(digest, ":", "-"))
}

// Get is what a layer lists, as [ReadLayer] gave it with a nil data, and whether
// that is remembered.
func (x Indexes) Get(digest string) ([]Entry, bool) {
	if x == "" {
		return nil, false
	}
	data, err := os.ReadFile(x.path(digest))
	if err != nil {
		return nil, false
	}
	entries, err := DecodeIndex(data)
	return entries, err == nil
}

// Put remembers what [EncodeIndex] can write of a layer.
func (x Indexes) Put(digest string, entries []Entry) {
	if x == "" {
		return
	}
	data, err := EncodeIndex(entries)
	if err != nil || os.MkdirAll(string(x), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(string(x), "new-")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), x.path(digest)) != nil {
		os.Remove(f.Name())
	}
}
