package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/rootfs"
)

// layer is one layer of an image. Its bytes are read once at most; of them is
// kept what may have to be looked at: see [sieve].
type layer struct {
	name    string   // for messages: layer 2 (sha256:…)
	digest  string   // of the compressed form
	base    bool     // it is the base's, and so is what is in it
	diffID  *v1.Hash // what the config says of it
	indexes rootfs.Indexes
	room    *room
	open    func() (io.ReadCloser, error) // the uncompressed stream, bounded

	listed []rootfs.Entry // of a layer that was just written, instead of reading it
	opened []io.Closer    // files of those

	read  bool
	err   error
	heads map[int64]string // first bytes of every regular file, by place
	kept  map[int64]bool   // files that are in the spool, at the same place
	spool *os.File
	files []layerFile // regular ones, in the order of its list
}

// entries are what the layer lists. Those of a base that is known come from the
// remembered index where there is one.
func (l *layer) entries() ([]rootfs.Entry, error) {
	if l.listed != nil {
		return l.listed, nil
	}
	if l.base {
		if index, ok := l.indexes.Get(l.digest); ok {
			return l.bind(index), nil
		}
	}
	index, err := l.load()
	if err != nil {
		return nil, err
	}
	if l.base {
		l.indexes.Put(l.digest, index)
	}
	return l.bind(index), nil
}

func (l *layer) bind(index []rootfs.Entry) []rootfs.Entry {
	return rootfs.Bind(index, func(off, size int64) rootfs.Content { return &content{layer: l, off: off, size: size} })
}

// load reads the layer to its end.
func (l *layer) load() (index []rootfs.Entry, err error) {
	if l.read {
		return nil, l.err
	}
	l.read = true
	defer func() { l.err = err }()
	stream, err := l.open()
	if err != nil {
		return nil, l.failed(err)
	}
	defer stream.Close()
	s := &sieve{in: stream, room: l.room, sum: sha256.New(), heads: map[int64]string{}, kept: map[int64]bool{}}
	index, err = rootfs.ReadLayer(s, s.file)
	l.heads, l.kept, l.spool = s.heads, s.kept, s.spool
	switch {
	case s.failed != nil:
		return nil, s.failed
	case err != nil:
		return nil, l.failed(err)
	}
	if got := hex.EncodeToString(s.sum.Sum(nil)); l.diffID != nil && got != l.diffID.Hex {
		return nil, &damage{l.name + " unpacks to sha256:" + got + ", but the config lists " + l.diffID.String()}
	}
	return index, nil
}

// failed tells damage, which is the image's, from what leaves it open whether
// there is any.
func (l *layer) failed(err error) error {
	var asked *registry.Error
	switch {
	case errors.Is(err, registry.ErrAbsent):
		return &damage{l.name + " is gone"}
	case errors.As(err, &asked), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &damage{fmt.Sprintf("%s cannot be unpacked: %v", l.name, err)}
}

func (l *layer) close() {
	if l.spool != nil {
		l.spool.Close()
	}
	l.closeFrom(0)
}

// closeFrom closes the files that were opened after n others.
func (l *layer) closeFrom(n int) {
	for _, f := range l.opened[n:] {
		f.Close()
	}
	l.opened = l.opened[:n]
}

// damage is what is certainly wrong with what is stored.
type damage struct{ text string }

func (d *damage) Error() string { return d.text }

// content is a regular file of a layer.
type content struct {
	layer     *layer
	off, size int64 // bytes, of the uncompressed stream
	from      rootfs.Content
	first     *string // of from; nil until it is read
}

// errNotKept says that a file was not kept when its layer was read.
var errNotKept = errors.New("too large to be looked at")

// Open implements [rootfs.Content].
func (c *content) Open() (io.ReadCloser, error) {
	r, err := c.section()
	if err != nil {
		return nil, err
	}
	return io.NopCloser(r), nil
}

// section is the file's bytes; the layer is read where it was not yet.
func (c *content) section() (*io.SectionReader, error) {
	if c.from != nil {
		return c.direct()
	}
	if _, err := c.layer.load(); err != nil {
		return nil, err
	}
	if !c.layer.kept[c.off] {
		return nil, errNotKept
	}
	return io.NewSectionReader(c.layer.spool, c.off, c.size), nil
}

// head is the first bytes of a file of a layer that has been read; "" where that
// is not so.
func (c *content) head() string {
	if c.from != nil {
		return c.beginning()
	}
	return c.layer.heads[c.off]
}
