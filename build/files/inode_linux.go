package files

import (
	"io/fs"
	"syscall"
)

// InodeOf returns what identifies the file that info is of; not ok where the
// system does not tell.
func InodeOf(info fs.FileInfo) (i Inode, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Inode{}, false
	}
	return Inode{
		Device: uint64(st.Dev), Number: st.Ino, Size: info.Size(), //nolint:unconvert // the type of Dev is the system's
		Modified: info.ModTime().UnixNano(), Changed: st.Ctim.Nano(),
	}, true
}
