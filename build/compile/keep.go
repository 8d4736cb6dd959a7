package compile

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/archmage-go/archmage/build/files"
)

// stampsFile remembers, per file of a kept directory, what it looked like when
// the go command had made it.
const stampsFile = ".stamps.json"

// stamp tells whether a file was changed since.
type stamp struct {
	Size  int64     `json:"size"`
	Mtime time.Time `json:"mtime"`

	Inode files.Inode `json:"inode,omitzero"` // as the last run left it
	Made  files.Inode `json:"made,omitzero"`  // as it was when its bytes were made
}

// kept is a directory with the results of earlier runs of one go command.
//
// The go command finds out by a build ID in the head of each file whether it is
// up to date, and then only sets its time. So a file that was changed behind its
// back (by strip, through a hard link) would stay for ever; stamps find it.
type kept struct {
	dir    string
	stamps map[string]stamp
	before map[string]*os.File    // held open, so that no new file can get the same inode
	made   map[string]files.Inode // of those that nobody else has touched since
	names  []string
}

// open makes ready for building files into dir: whatever there is not as the
// last run left it is removed.
func open(dir string, names []string) (*kept, error) {
	k := &kept{dir: dir, stamps: map[string]stamp{}, before: map[string]*os.File{}, made: map[string]files.Inode{}, names: names}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	k.sweep()
	if data, err := os.ReadFile(k.path(stampsFile)); err == nil {
		_ = json.Unmarshal(data, &k.stamps) // damaged: everything is linked again
	}
	for _, name := range names {
		info, err := os.Lstat(k.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && k.asLeft(name, info) {
			if f, err := os.Open(k.path(name)); err == nil {
				k.before[name] = f
				if s := k.stamps[name]; s.Inode == inodeOf(info) {
					k.made[name] = s.Made
				}
				continue
			}
		}
		if err := os.RemoveAll(k.path(name)); err != nil {
			k.close()
			return nil, err
		}
	}
	return k, nil
}

// abandoned is the age at which what a run makes for a moment has no run any more.
const abandoned = time.Hour

// sweep removes what killed runs left: stamps on their way, and second names of
// programs, which would keep those on the disk.
func (k *kept) sweep() {
	entries, _ := os.ReadDir(k.dir)
	for _, e := range entries {
		if e.Name() == stampsFile || !strings.HasPrefix(e.Name(), stampsFile) && !strings.HasPrefix(e.Name(), linkDir) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(k.path(e.Name()))
		}
	}
}

func (k *kept) path(name string) string { return filepath.Join(k.dir, name) }

func (k *kept) asLeft(name string, info fs.FileInfo) bool {
	s, known := k.stamps[name]
	return known && info.Mode().IsRegular() && s.Size == info.Size() && s.Mtime.Equal(info.ModTime())
}

// outcome is how a go command ended.
type outcome int

const (
	succeeded outcome = iota
	failed            // by its own judgement, after building what it could
	killed            // files may be half written
)

// settle says what the go command made of each file, leaving out those it did
// not get to. Where it failed, a file that is not new and whose time was not set
// either is from an earlier run. Up to date files get their old time back, so
// that they count as unchanged elsewhere too.
func (k *kept) settle(end outcome) map[string]State {
	fresh := map[string]State{}
	for _, name := range k.names {
		info, err := os.Lstat(k.path(name))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		old := k.isOld(name, info)
		if !old && end == killed {
			delete(k.stamps, name)
			continue
		}
		if !old {
			fresh[name] = Built
		} else if touched := !info.ModTime().Equal(k.stamps[name].Mtime); touched || end == succeeded {
			fresh[name] = Unchanged
			_ = os.Chtimes(k.path(name), k.stamps[name].Mtime, k.stamps[name].Mtime)
		}
		if info, err = executable(k.path(name)); err != nil {
			delete(fresh, name)
			continue
		}
		k.stamps[name] = stamp{Size: info.Size(), Mtime: info.ModTime()}
	}
	return fresh
}

// isOld reports whether a file is the one that was there before.
func (k *kept) isOld(name string, info fs.FileInfo) bool {
	f := k.before[name]
	if f == nil {
		return false
	}
	old, err := f.Stat()
	return err == nil && os.SameFile(old, info)
}

// executable gives a file mode 0755, whatever the umask.
func executable(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Perm() != 0o755 {
		err = os.Chmod(path, 0o755)
	}
	return info, err
}

// settled is told when nothing more will be done to a file. The go command sets
// the times of what is up to date, which moves the time that shows writes, so
// that nobody else could tell whether it was written to.
func (k *kept) settled(name string, state State) (now, made files.Inode) {
	info, err := os.Lstat(k.path(name))
	if err != nil {
		return now, made
	}
	now = inodeOf(info)
	made, known := k.made[name]
	if state != Unchanged || !known {
		made = now
	}
	s := k.stamps[name]
	s.Inode, s.Made = now, made
	k.stamps[name] = s
	return now, made
}

func inodeOf(info fs.FileInfo) files.Inode {
	i, _ := files.InodeOf(info)
	return i
}

// save writes the stamps.
func (k *kept) save() error {
	data, err := json.Marshal(k.stamps)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(k.dir, stampsFile)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), k.path(stampsFile))
}

func (k *kept) close() {
	for _, f := range k.before {
		f.Close()
	}
}

// keepOut makes the directory of results and keeps it out of git.
func (b *builder) keepOut() error {
	dir := b.Keep
	if b.Disk.DryRun() {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(ignore, []byte("*\n"), 0o644)
	}
	return nil
}
