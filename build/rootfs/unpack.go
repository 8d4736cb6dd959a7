package rootfs

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

// unpack unpacks the archive at src into the directory dest. It answers false
// where src is no archive, which then is to be copied.
//
// Behaviour is that of BuildKit v0.34.2, which unpacks with moby/go-archive in a
// chroot at the destination: absolute links and `..` begin and end there, for
// links of the archive as for those that are there already.
func (c *copier) unpack(ctx context.Context, src, dest string) (done bool, err error) {
	n, err := c.src.Stat(src)
	if err != nil || !n.Mode.IsRegular() {
		return false, nil // the copy has the better error
	}
	if c.spec.Spool == nil {
		return false, fmt.Errorf("unpack %s: no spool", src)
	}
	a, err := openArchive(ctx, n, c.spec.Spool.Limits)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", src, err)
	}
	if a == nil {
		return false, nil
	}
	defer func() { err = errors.Join(err, a.close()) }()

	at, err := c.e.Resolve("/", dest, true)
	if err != nil {
		return false, err
	}
	if err := mkdirAll(c.e, at, Mkdir{Mode: 0o755, Owner: c.spec.Owner, Time: c.spec.Time}); err != nil {
		return false, err
	}
	spool, err := c.spec.Spool.file()
	if err != nil {
		return false, err
	}
	u := &unpacker{root: chroot{e: c.e, base: at}, owner: c.spec.Owner, meter: a.meter, spool: spool}
	if err := u.all(a); err != nil {
		return false, fmt.Errorf("unpack %s: %w", src, err)
	}
	return true, nil
}

// unpacker lays the entries of one archive over a directory.
type unpacker struct {
	root  chroot
	owner *Owner // overrides every entry's
	meter *meter
	spool *os.File
	size  int64 // of spool
	dirs  []dirTime
}

// dirTime is the time of a directory, set again at the end, when nothing more is
// made in it.
type dirTime struct {
	path string
	time time.Time
}

func (u *unpacker) all(a *archive) error {
	for h, err := a.first, error(nil); ; h, err = a.Next() {
		if err == io.EOF {
			break
		}
		if err == nil {
			err = u.entry(h, a)
		}
		if err != nil {
			return err
		}
	}
	for _, d := range u.dirs {
		if err := u.touch(d); err != nil {
			return err
		}
	}
	return nil
}

// touch follows links: the directory may have been replaced by one meanwhile.
func (u *unpacker) touch(d dirTime) error {
	at, n, err := u.root.find(d.path, true)
	if err != nil {
		return err
	}
	if n == nil {
		return pathError("chtimes", d.path, syscall.ENOENT)
	}
	if n, err = u.root.e.Change(at); err != nil {
		return err
	}
	n.ModTime = d.time
	return nil
}

func (u *unpacker) entry(h *tar.Header, data io.Reader) error {
	if err := u.meter.entry(len(h.Name) + len(h.Linkname)); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	name := path.Clean(h.Name)
	full := path.Join("/", name)
	if err := checkName(full); err != nil {
		return err
	}
	if err := u.parents(full); err != nil {
		return err
	}
	at, have, err := u.root.find(full, false)
	if err != nil {
		return err
	}
	if have.IsDir() && name == "." {
		return nil // "./" does not change a destination that is there
	}
	if have != nil && !(have.IsDir() && h.Typeflag == tar.TypeDir) {
		if at, err = u.clear(at, full); err != nil {
			return err
		}
		have = nil
	}
	n, err := u.make(at, have, h, data)
	if err != nil {
		return err
	}
	if err := u.stamp(n, h); err != nil {
		return pathError("setxattr", full, err)
	}
	if n.IsDir() {
		u.dirs = append(u.dirs, dirTime{full, n.ModTime})
	}
	return nil
}

// clear removes what p names, at the path at, and looks again: it may have been
// a link that p itself leads through.
func (u *unpacker) clear(at, p string) (string, error) {
	if at == u.root.base {
		return "", pathError("remove", p, syscall.EBUSY)
	}
	if err := u.root.e.Remove(at); err != nil {
		return "", err
	}
	at, _, err := u.root.find(p, false)
	return at, err
}

// parents makes what is missing above p: 0755, of 0:0 whatever --chown says.
func (u *unpacker) parents(p string) error {
	dir := path.Dir(p)
	_, n, err := u.root.find(dir, false)
	if n != nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return u.root.mkdirAll(dir, u.meter.entry)
}
