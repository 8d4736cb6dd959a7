package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/archmage-go/archmage/build/files"
	"github.com/archmage-go/archmage/build/rootfs"
)

// contents is all that a new layer's bytes depend on.
type contents struct {
	entries []rootfs.Entry
	epoch   time.Time
	format  Format

	progress func(bytes int64)           // see [Request]; no byte depends on it
	made     map[files.Inode]files.Inode // see [Blobs]; likewise
}

// identity is what can be told of a layer without reading a file of it.
type identity struct {
	headers string    // names its headers alone
	files   string    // names its files as well; "" where some cannot be named
	at      time.Time // when it was taken
	changed time.Time // when the file that changed last did
}

// settling is how old a file has to be before what it holds is remembered by its
// times: until the file system's clock has moved on, a second write would leave
// the same ones. Steps are some milliseconds where Linux keeps the clock, and up
// to two seconds on FAT; times of a server may run ahead of ours.
const settling = 2 * time.Second

// settled reports whether the same identity later means the same bytes.
func (id identity) settled(after time.Duration) bool {
	return id.files != "" && id.at.Sub(id.changed) > after
}

// identify takes the identity.
func (c contents) identify() (identity, error) {
	id := identity{at: time.Now()}
	headers, files, nameless := sha256.New(), sha256.New(), false
	err := rootfs.Outline(io.MultiWriter(headers, files), c.entries, c.epoch, func(_ io.Writer, n *rootfs.Node) error {
		name, changed, err := c.nameOf(n.Data)
		nameless = nameless || name == ""
		if changed.After(id.changed) {
			id.changed = changed
		}
		fmt.Fprintf(files, "%q\n", name)
		return err
	})
	id.headers = hex.EncodeToString(headers.Sum(nil))
	if !nameless {
		id.files = hex.EncodeToString(files.Sum(nil))
	}
	return id, err
}

// nameOf names the bytes of a content, without reading them from anywhere; ""
// where that cannot be. changed is zero for those that never do.
func (c contents) nameOf(of rootfs.Content) (name string, changed time.Time, err error) {
	switch of := of.(type) {
	case rootfs.Bytes:
		sum := sha256.Sum256(of)
		return "sha256:" + hex.EncodeToString(sum[:]), time.Time{}, nil
	case *fetched:
		return of.digest, time.Time{}, nil
	case section:
		digest, err := of.layer.layer.Digest()
		return fmt.Sprintf("%s %d %d", digest, of.off, of.size), time.Time{}, err
	case rootfs.File:
		return c.nameOfFile(of)
	}
	return "", time.Time{}, nil
}

// nameOfFile is its path with what it was when its bytes were made.
func (c contents) nameOfFile(of rootfs.File) (name string, changed time.Time, err error) {
	stamp, err := of.Stamp()
	if err != nil || stamp.Inode == (files.Inode{}) {
		return "", time.Time{}, err
	}
	inode := stamp.Inode
	if made, ok := c.made[inode]; ok {
		inode = made
	}
	return fmt.Sprintf("%q %v", stamp.Path, inode), inode.Last(), nil
}

// write writes the layer uncompressed.
func (c contents) write(w io.Writer) error {
	if c.progress != nil {
		w = &watched{w: w, told: c.progress}
	}
	return rootfs.WriteLayer(w, c.entries, c.epoch)
}

// watched tells how many bytes have passed.
type watched struct {
	w    io.Writer
	n    int64
	told func(bytes int64)
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.n += int64(n)
	w.told(w.n)
	return n, err
}

// hash reads all files for the diff ID.
func (c contents) hash(ctx context.Context) (string, error) {
	sum := &counter{w: io.Discard, hash: sha256.New(), ctx: ctx}
	err := c.write(sum)
	return sum.sum().String(), err
}
