package rootfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tonistiigi/fsutil"
	"github.com/tonistiigi/fsutil/types"
)

// Context is the build context below dir as BuildKit's client sends it, by the
// client's own walk: what exclude (the patterns of an ignore file) leaves of
// what follow names. follow holds cleaned relative paths, wildcards allowed;
// links among them pull their targets in. An empty follow is the whole context.
// Only what is asked for is walked; contents are opened when they are read.
//
// Everything belongs to 0:0 and has no time, since a checkout's times differ
// from clone to clone. Modes are the files' own, hard links among what is sent
// stay, extended attributes are dropped, a socket becomes an empty file.
//
// dir must stay open as long as a content may be read, and no path ever leaves
// it. A file that changes its size after it was listed is an error of Open.
func Context(ctx context.Context, dir *os.Root, follow, exclude []string) (Tree, error) {
	own, err := dir.OpenRoot(".") // fsutil closes the root it is given
	if err != nil {
		return Tree{}, fmt.Errorf("open context: %w", err)
	}
	root := fsutil.NewRoot(own)
	defer func() { _ = root.Close() }()

	sent, err := fsutil.NewFilterFS(fsutil.NewRootFS(lstatRoot{root}), &fsutil.FilterOpt{
		FollowPaths:     follow,
		ExcludePatterns: exclude,
	})
	if err != nil {
		return Tree{}, fmt.Errorf("read context: %w", err)
	}
	t, err := collect(ctx, fsutil.WithHardlinkReset(sent), dir)
	if err != nil {
		return Tree{}, fmt.Errorf("read context: %w", err)
	}
	return t, nil
}

// lstatRoot makes fsutil's walk begin at a link itself, as it does for a plain
// directory. Otherwise the start is followed, and a link that leads out of an
// os.Root by its text, as absolute ones do, is an error, though the client takes
// it to begin at the context's root.
type lstatRoot struct{ fsutil.Root }

// FS implements [fsutil.Root].
func (r lstatRoot) FS() fs.FS { return lstatFS{r.Root.FS(), r.Root} }

type lstatFS struct {
	fs.FS
	root fsutil.Root
}

// Stat implements [fs.StatFS], which fs.WalkDir begins with.
func (f lstatFS) Stat(name string) (fs.FileInfo, error) {
	return f.root.Lstat(filepath.FromSlash(name))
}

// ReadDir implements [fs.ReadDirFS].
func (f lstatFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

// errStop ends a walk. fsutil takes an fs.ErrNotExist that a callback returns
// for a file that vanished and goes on, so the callback's own error is kept
// beside the walk and never handed to it.
var errStop = errors.New("walk stopped")

func collect(ctx context.Context, sent fsutil.FS, dir *os.Root) (Tree, error) {
	e := Tree{}.Edit()
	var failed error
	err := sent.Walk(ctx, "/", func(p string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = addSent(e, dir, p, entry)
		}
		if err != nil {
			failed = err
			return errStop
		}
		return nil
	})
	if failed != nil {
		return Tree{}, failed
	}
	return e.Tree(), err
}

func addSent(e *Editor, dir *os.Root, p string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*types.Stat)
	if !ok {
		return fmt.Errorf("stat %s: no details", p)
	}
	at := clean(filepath.ToSlash(p))
	if st.Linkname != "" && info.Mode()&fs.ModeSymlink == 0 {
		first, err := e.Lstat(filepath.ToSlash(st.Linkname))
		if err != nil {
			return err
		}
		return e.Put(at, first)
	}
	return e.Put(at, sentNode(dir, p, st))
}

// sentNode is what the daemon makes of one file's message.
func sentNode(dir *os.Root, p string, st *types.Stat) *Node {
	n := &Node{Mode: fs.FileMode(st.Mode)}
	switch n.Mode.Type() {
	case 0:
		if st.Size > 0 {
			n.Size, n.Data = st.Size, contextFile{dir: dir, name: p, size: st.Size}
		}
	case fs.ModeSymlink:
		n.Link = st.Linkname
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		n.Major, n.Minor = st.Devmajor, st.Devminor
	}
	return n
}

// contextFile is a file of the context. It is opened on demand: a context may
// have more files than a process may open.
type contextFile struct {
	dir  *os.Root
	name string
	size int64
}

// Open implements [Content]. What was listed as a file may be anything by now: a
// FIFO is not waited for, and a link is refused, since it may lead to a file of
// the context that was ignored.
func (c contextFile) Open() (io.ReadCloser, error) {
	f, err := c.dir.OpenFile(c.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := c.check(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (c contextFile) check(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := c.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() != c.size || !os.SameFile(info, named) {
		return fmt.Errorf("read %s: changed while it was used", c.name)
	}
	return nil
}

// Stat tells callers that remember digests which file this is: two contents
// with the same name, size, times and inode need be read once.
func (c contextFile) Stat() (fs.FileInfo, error) { return c.dir.Lstat(c.name) }
