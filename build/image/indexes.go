package image

import (
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/rootfs"
)

// Indexes is a directory that remembers what layers of bases list, by the
// digest of the layer. Nearly every COPY onto a base has to know whether its
// destination is a directory or a link, and with this the base is read for that
// once, not once per run. "" remembers nothing.
//
// An entry is written whole and then named, so several processes may share the
// directory; one that does not check out is read anew. What cannot be written is
// not remembered, and no error.
type Indexes string

func (x Indexes) path(digest v1.Hash) string {
	return filepath.Join(string(x), digest.Algorithm+"-"+digest.Hex)
}

func (x Indexes) get(digest v1.Hash) ([]rootfs.Entry, bool) {
	if x == "" {
		return nil, false
	}
	data, err := os.ReadFile(x.path(digest))
	if err != nil {
		return nil, false
	}
	entries, err := rootfs.DecodeIndex(data)
	return entries, err == nil
}

func (x Indexes) put(digest v1.Hash, entries []rootfs.Entry) {
	if x == "" {
		return
	}
	data, err := rootfs.EncodeIndex(entries)
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
