package parity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// firstContextTime is later than every time that bases and archives have.
var firstContextTime = time.Date(2003, 1, 1, 0, 0, 0, 0, time.UTC)

// newContextTime is the modification time that everything in one context on disk
// gets. BuildKit keeps the files of the last context of a name, and asks only for
// those whose size or time changed: should a directory's name come again, the time
// does not. Whole seconds, between firstContextTime and 2019.
func newContextTime() time.Time {
	return firstContextTime.Add(time.Duration(rand.Int64N(16*365*24*3600)) * time.Second)
}

// write makes the context of the case below dir, which exists and is empty.
func (c Case) write(ctx context.Context, dir string, p places) error {
	var special string
	for _, f := range c.files {
		name, isTar := strings.CutSuffix(f.Name, "!tar")
		data, err := f.Data, error(nil)
		switch {
		case strings.HasSuffix(f.Name, "!base"):
			continue
		case f.Name == "!context":
			special = string(f.Data)
			continue
		case isTar:
			data, err = archiveOf(ctx, name, string(f.Data), c.pack[name])
		case strings.Contains(name, "Dockerfile"):
			data = c.fill(data, p)
		}
		if err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		if err := writeFile(filepath.Join(dir, name), data); err != nil {
			return err
		}
	}
	for _, line := range specLines(special) {
		e, err := parseEntry(line)
		if err != nil {
			return err
		}
		if err := e.create(dir); err != nil {
			return fmt.Errorf("make %q: %w", line, err)
		}
	}
	return setTimes(dir, newContextTime())
}

func writeFile(at string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(at, data, 0o644); err != nil {
		return err
	}
	return os.Chmod(at, 0o644)
}

// create makes one entry. A file or directory that is there only gets the mode
// and owner.
func (e Entry) create(dir string) error {
	at := filepath.Join(dir, e.Path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if err := e.make(at, dir); err != nil {
		return err
	}
	if e.Kind == "sym" || e.Kind == "hard" {
		return nil
	}
	if e.UID != 0 || e.GID != 0 {
		if err := os.Chown(at, e.UID, e.GID); err != nil {
			return err
		}
	}
	for _, x := range e.Xattrs {
		if err := unix.Setxattr(at, x[0], []byte(x[1]), 0); err != nil {
			return err
		}
	}
	// Not os.Chmod: it has bits of its own for suid, sgid and sticky.
	return unix.Chmod(at, uint32(e.Mode))
}

func (e Entry) make(at, dir string) error {
	switch e.Kind {
	case "dir":
		return os.MkdirAll(at, 0o755)
	case "file":
		if _, err := os.Lstat(at); err == nil {
			return nil
		}
		return writeFile(at, e.Data)
	case "sym":
		return os.Symlink(e.To, at)
	case "hard":
		return os.Link(filepath.Join(dir, e.To), at)
	case "fifo":
		return unix.Mkfifo(at, 0o644)
	case "sock":
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
		if err != nil {
			return err
		}
		l.SetUnlinkOnClose(false)
		return l.Close()
	}
	return errors.New("no such kind in a context")
}

func setTimes(dir string, stamp time.Time) error {
	ts := unix.NsecToTimespec(stamp.UnixNano())
	return filepath.WalkDir(dir, func(at string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return unix.UtimesNanoAt(unix.AT_FDCWD, at, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
}
