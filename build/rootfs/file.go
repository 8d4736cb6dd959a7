package rootfs

import (
	"fmt"

	"github.com/archmage-go/archmage/build/files"
)

// File is a content that is a file of this machine, and stays one: it can be
// opened for as long as the directory that [Context] was given is open.
type File interface {
	Content
	// Stamp is what the file system says of the file now. Its Inode is zero where
	// there is no telling.
	Stamp() (Stamp, error)
}

// Stamp tells a file from all others of this machine.
type Stamp struct {
	Path  string // absolute
	Inode files.Inode
}

// Stamp implements [File].
func (c contextFile) Stamp() (Stamp, error) {
	info, err := c.Stat()
	if err != nil {
		return Stamp{}, err
	}
	if !info.Mode().IsRegular() || info.Size() != c.size {
		return Stamp{}, fmt.Errorf("read %s: changed while it was used", c.name)
	}
	inode, _ := files.InodeOf(info)
	return Stamp{c.dir.Name() + "/" + c.name, inode}, nil
}
