package rootfs

import (
	"io/fs"
	"syscall"
	"time"
)

// identity is what tells a file from all others of this machine, and when its
// bytes or attributes last changed.
func identity(info fs.FileInfo) (device, inode uint64, changed time.Time, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, time.Time{}, false
	}
	return uint64(st.Dev), st.Ino, time.Unix(st.Ctimespec.Unix()), true //nolint:unconvert // the type of Dev is the system's
}
