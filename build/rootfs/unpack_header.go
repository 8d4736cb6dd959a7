package rootfs

import (
	"archive/tar"
	"encoding/binary"
	"io/fs"
	"math"
	"syscall"
)

// stamp gives n what the header says, in the order of system calls, which shows
// in a hard link: chown drops the capability that its first name brought.
func (u *unpacker) stamp(n *Node, h *tar.Header) error {
	if u.owner != nil {
		n.UID, n.GID = u.owner.UID, u.owner.GID
	} else {
		n.UID, n.GID = chownID(n.UID, h.Uid), chownID(n.GID, h.Gid)
	}
	if !n.IsDir() {
		n.Cap = nil
	}
	if !n.IsLink() {
		if v, ok := h.PAXRecords[capability]; ok {
			var err error
			if n.Cap, err = parseCap([]byte(v)); err != nil {
				return err
			}
		}
	}
	if h.Typeflag == tar.TypeLink && n.IsLink() {
		return nil
	}
	if !n.IsLink() {
		n.Mode = n.Mode.Type() | h.FileInfo().Mode()&(fs.ModePerm|special)
	}
	n.ModTime = bounded(h.ModTime)
	return nil
}

// chownID is what chown(2) makes of an id: 32 bits count, and all ones leave
// what is there.
func chownID(have, want int) int {
	if uint32(want) == math.MaxUint32 {
		return have
	}
	return int(uint32(want))
}

// parseCap checks a security.capability as setxattr(2) does, and gives what
// getxattr(2) returns then: the third revision with a root of 0 reads as the
// second.
func parseCap(v []byte) ([]byte, error) {
	if len(v) < 4 {
		return nil, syscall.EINVAL
	}
	magic := binary.LittleEndian.Uint32(v)
	switch {
	case magic>>24 == 2 && len(v) == 20:
		return v, nil
	case magic>>24 == 3 && len(v) == 24:
		if binary.LittleEndian.Uint32(v[20:]) == 0 {
			v = v[:20]
			binary.LittleEndian.PutUint32(v, magic&0x00ffffff|2<<24)
		}
		return v, nil
	}
	return nil, syscall.EINVAL
}
