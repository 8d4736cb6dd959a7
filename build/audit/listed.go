package audit

import (
	"errors"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/rootfs"
)

// list takes a layer's entries from who made it, if it was made in this process:
// its files are read where they came from, as far as they are looked at, and
// nothing is unpacked. What is found is the same.
func (l *layer) list(from v1.Layer) {
	made, ok := from.(interface{ Entries() []rootfs.Entry })
	if !ok {
		return
	}
	listed, ok := rootfs.Listed(made.Entries(), func(n *rootfs.Node) rootfs.Content {
		return &content{layer: l, size: n.Size, from: n.Data}
	})
	if ok {
		l.listed, l.read = append([]rootfs.Entry{}, listed...), true
	}
}

// beginning is the first bytes of a listed file.
func (c *content) beginning() string {
	if c.first == nil {
		head, err := c.readHead()
		if err != nil {
			c.layer.err = errors.Join(c.layer.err, err)
		}
		c.first = &head
	}
	return *c.first
}

func (c *content) readHead() (string, error) {
	r, err := c.from.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	head := make([]byte, min(headSize, c.size))
	_, err = io.ReadFull(r, head)
	return string(head), err
}

// direct is a listed file's bytes, by the rule of [sieve]: data is not looked
// at.
func (c *content) direct() (*io.SectionReader, error) {
	head := c.beginning()
	if c.layer.err != nil {
		return nil, c.layer.err
	}
	if c.size > smallFile && !executable(head) && !listing(head) {
		return nil, errNotKept
	}
	r, err := c.from.Open()
	if err != nil {
		return nil, err
	}
	if file, ok := r.(io.ReaderAt); ok {
		c.layer.opened = append(c.layer.opened, r)
		return io.NewSectionReader(file, 0, c.size), nil
	}
	defer r.Close()
	return c.copy(r)
}

// copy keeps a file that cannot be read at any place.
func (c *content) copy(r io.Reader) (*io.SectionReader, error) {
	f, err := c.layer.room.file()
	if err != nil {
		return nil, err
	}
	c.layer.opened = append(c.layer.opened, f)
	_, err = io.Copy(f, r)
	return io.NewSectionReader(f, 0, c.size), err
}
