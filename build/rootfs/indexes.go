package rootfs

import "github.com/archmage-go/archmage/build/cache"

// Indexes remember what layers list, by the digest of the layer (sha256:…).
// Nearly every COPY onto a base has to know whether its destination is a
// directory or a link, and with this the base is read for that once, not once
// per run. The zero value remembers nothing.
type Indexes cache.Store

// Get is what a layer lists, as [ReadLayer] gave it with a nil data, and whether
// that is remembered.
func (x Indexes) Get(digest string) ([]Entry, bool) {
	data, known := cache.Store(x).Get(digest)
	if !known {
		return nil, false
	}
	entries, err := DecodeIndex(data)
	return entries, err == nil
}

// Put remembers what [EncodeIndex] can write of a layer.
func (x Indexes) Put(digest string, entries []Entry) {
	if x.Dir == "" {
		return
	}
	if data, err := EncodeIndex(entries); err == nil {
		cache.Store(x).Put(digest, data)
	}
}
