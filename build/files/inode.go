package files

import "time"

// Inode is what the file system says of a file. While it is the same, so are the
// bytes: every write moves Changed, which no program can set. That holds from
// some time after Changed on, since a file system's clock has steps, and what is
// written twice in one step has one Inode. The zero value is none.
type Inode struct {
	Device   uint64 `json:"device"`
	Number   uint64 `json:"number"`
	Size     int64  `json:"size"`     // bytes
	Modified int64  `json:"modified"` // mtime, nanoseconds since 1970
	Changed  int64  `json:"changed"`  // ctime, likewise: of the bytes or of the attributes
}

// Last is the later one of its times.
func (i Inode) Last() time.Time { return time.Unix(0, max(i.Modified, i.Changed)) }
