package rootfs

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// make puts an entry at a free path, and gives it to be changed. Of directories
// that are there already it gives those.
func (u *unpacker) make(at string, have *Node, h *tar.Header, data io.Reader) (*Node, error) {
	n := &Node{}
	switch h.Typeflag {
	case tar.TypeDir:
		n.Mode = fs.ModeDir
		if have != nil {
			return u.root.e.Change(at)
		}
	case tar.TypeReg:
		if err := u.store(n, data); err != nil {
			return nil, fmt.Errorf("read %s: %w", h.Name, err)
		}
	case tar.TypeLink:
		return u.link(at, h)
	case tar.TypeSymlink:
		if n.Mode, n.Link = fs.ModeSymlink|0o777, h.Linkname; n.Link == "" {
			return nil, pathError("symlink", at, syscall.ENOENT)
		}
		if len(n.Link) >= maxPath {
			return nil, pathError("symlink", at, syscall.ENAMETOOLONG)
		}
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		if device(n, h); isWhiteout(n) {
			return nil, pathError("mknod", at, syscall.EPERM) // as overlayfs has it
		}
	default:
		return nil, fmt.Errorf("unhandled tar header type %d", h.Typeflag)
	}
	if err := u.root.e.Put(at, n); err != nil {
		return nil, err
	}
	return u.root.e.Change(at)
}

func device(n *Node, h *tar.Header) {
	n.Mode = fs.ModeNamedPipe
	if h.Typeflag == tar.TypeFifo {
		return
	}
	n.Mode, n.Major, n.Minor = fs.ModeDevice, h.Devmajor, h.Devminor
	if h.Typeflag == tar.TypeChar {
		n.Mode |= fs.ModeCharDevice
	}
}

// link makes a hard link. Both names are one node from then on, so what the
// header says goes for both.
func (u *unpacker) link(at string, h *tar.Header) (*Node, error) {
	target := path.Join("/", h.Linkname)
	if err := checkName(target); err != nil {
		return nil, err
	}
	from, n, err := u.root.find(target, false)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return nil, pathError("link", target, syscall.ENOENT)
	case n.IsDir():
		return nil, pathError("link", target, syscall.EPERM)
	}
	if n, err = u.root.e.Change(from); err != nil {
		return nil, err
	}
	return n, u.root.e.Put(at, n)
}

// store appends a file's data to the spool. Holes of sparse files are written.
func (u *unpacker) store(n *Node, data io.Reader) error {
	size, err := io.Copy(u.spool, u.meter.count(data, &u.meter.data))
	if err != nil {
		return err
	}
	if size > 0 {
		n.Size, n.Data = size, section{file: u.spool, off: u.size, size: size}
	}
	u.size += size
	return nil
}

// checkName refuses what Linux does not take.
func checkName(p string) error {
	if len(p) >= maxPath {
		return pathError("open", p[:64]+"…", syscall.ENAMETOOLONG)
	}
	for name := range strings.SplitSeq(p, "/") {
		if len(name) > maxName {
			return pathError("open", name[:64]+"…", syscall.ENAMETOOLONG)
		}
	}
	return nil
}
