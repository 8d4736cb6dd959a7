package rootfs

import (
	"fmt"
	"time"
)

// File is a content that is a file of this machine, and stays one: it can be
// opened for as long as the directory that [Context] was given is open.
type File interface {
	Content
	// Stamp is what the file system says of the file now.
	Stamp() (Stamp, error)
}

// Stamp is what the file system says of a file. While it is the same, so are the
// bytes: every write moves Changed, which no program can set. That holds from
// some time after Changed on, since a file system's clock has steps, and what is
// written twice in one step has one stamp.
type Stamp struct {
	ID      string    // path, device, inode, size and times; "" where there is no telling
	Changed time.Time // the later one of the times of its last change (ctime, mtime)
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
	device, inode, changed, ok := identity(info)
	if !ok {
		return Stamp{}, nil
	}
	modified := info.ModTime()
	id := fmt.Sprintf("%q %d %d %d %d %d", c.dir.Name()+"/"+c.name, device, inode, info.Size(), modified.UnixNano(), changed.UnixNano())
	if modified.After(changed) {
		changed = modified
	}
	return Stamp{ID: id, Changed: changed}, nil
}
