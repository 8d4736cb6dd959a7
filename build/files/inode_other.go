//go:build !linux && !darwin

package files

import "io/fs"

// InodeOf does not know here: nothing is remembered of files.
func InodeOf(fs.FileInfo) (i Inode, ok bool) { return Inode{}, false }
