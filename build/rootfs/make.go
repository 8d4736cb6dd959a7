package rootfs

import (
	"errors"
	"io/fs"
	"path"
	"syscall"
	"time"
)

// Mkdir is a directory to make, as WORKDIR does.
type Mkdir struct {
	Path    string      // links in it are resolved, at its end too
	Mode    fs.FileMode // permission bits; special ones are ignored
	Parents bool        // make what is missing above as well, with the same mode and owner
	Owner   *Owner      // nil is 0:0, or the group of a setgid directory above
	Time    time.Time
}

// Mkdir makes a directory and leaves one that is there alone. Without Parents it
// is satisfied with anything that is there, as BuildKit v0.34.2 is.
func (e *Editor) Mkdir(m Mkdir) error {
	p, err := e.Resolve("/", m.Path, true)
	if err != nil {
		return err
	}
	if m.Parents {
		return mkdirAll(e, p, m)
	}
	if have, err := lookup(e, p); err != nil || have != nil {
		return err
	}
	if _, err := e.Lstat(path.Dir(p)); err != nil {
		return pathError("mkdir", p, errors.Unwrap(err))
	}
	return mkdirAll(e, p, m)
}

// mkdirAll makes p, a resolved path, and gives m.Time to all it had to make.
func mkdirAll(e *Editor, p string, m Mkdir) error {
	var made []string
	for dir := p; !m.Time.IsZero(); dir = path.Dir(dir) {
		if have, err := lookup(e, dir); have != nil || err != nil {
			break // err: MkdirAll has it
		}
		made = append(made, dir)
	}
	if err := e.MkdirAll(p, m.Mode, m.Owner); err != nil {
		return err
	}
	for _, dir := range made {
		n, err := e.Change(dir)
		if err != nil {
			return err
		}
		n.ModTime = m.Time
	}
	return nil
}

// Write is a file to make, as heredocs do.
type Write struct {
	Path  string      // links in it are resolved, at its end too; its directory must be there
	Mode  fs.FileMode // permission bits; special ones are ignored
	Data  []byte      // must not change afterwards
	Owner *Owner      // nil is 0:0, or the group of a setgid directory above
	Time  time.Time
}

// Write makes a file in place of anything but a directory.
func (e *Editor) Write(w Write) error {
	p, err := e.Resolve("/", w.Path, true)
	if err != nil {
		return err
	}
	if have, err := lookup(e, p); err != nil {
		return err
	} else if have.IsDir() {
		return pathError("write", p, syscall.EISDIR)
	}
	dir, err := e.Lstat(path.Dir(p))
	if err != nil {
		return pathError("write", p, errors.Unwrap(err))
	}
	n := &Node{Mode: w.Mode.Perm(), ModTime: w.Time, Size: int64(len(w.Data)), Data: Bytes(w.Data)}
	switch {
	case w.Owner != nil:
		n.UID, n.GID = w.Owner.UID, w.Owner.GID
	case dir.Mode&fs.ModeSetgid != 0:
		n.GID = dir.GID
	}
	return e.Put(p, n)
}
