package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/moby/sys/user"
)

// Owner is who a node belongs to. A nil *Owner leaves what the operation would
// give by itself: the source's ids for a copy, 0:0 (or, below a setgid
// directory, its group) for what is made.
type Owner struct {
	UID, GID int
}

// maxAccountFile is BuildKit's bound on /etc/passwd and /etc/group.
const maxAccountFile = 10 << 20

// LookupUser finds a user by name in t's /etc/passwd and returns the uid and
// the primary group. A name that is not there, or a tree without the file, is
// no error: BuildKit v0.34.2 then silently takes 0:0, and found says so. The
// first entry of that name counts.
//
// A numeric name is not special here: front ends resolve those, and "root".
func LookupUser(t Tree, name string) (o Owner, found bool, err error) {
	r, err := openAccounts(t, "/etc/passwd")
	if r == nil || err != nil {
		return Owner{}, false, err
	}
	defer r.Close()

	users, err := user.ParsePasswdFilter(r, func(u user.User) bool { return u.Name == name })
	if err != nil {
		return Owner{}, false, fmt.Errorf("read /etc/passwd: %w", err)
	}
	if len(users) == 0 {
		return Owner{}, false, nil
	}
	return Owner{UID: users[0].Uid, GID: users[0].Gid}, true, nil
}

// LookupGroup finds a group by name in t's /etc/group. Where found is false the
// group that the user part gave stays, as in BuildKit v0.34.2.
func LookupGroup(t Tree, name string) (gid int, found bool, err error) {
	r, err := openAccounts(t, "/etc/group")
	if r == nil || err != nil {
		return 0, false, err
	}
	defer r.Close()

	groups, err := user.ParseGroupFilter(r, func(g user.Group) bool { return g.Name == name })
	if err != nil {
		return 0, false, fmt.Errorf("read /etc/group: %w", err)
	}
	if len(groups) == 0 {
		return 0, false, nil
	}
	return groups[0].Gid, true, nil
}

// openAccounts opens an account file of t through symlinks. It returns nil
// where there is none, which includes a path through something that is no
// directory; a directory or device in its place is an error.
func openAccounts(t Tree, p string) (io.ReadCloser, error) {
	r, err := t.Open(p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &boundedFile{ReadCloser: r, left: maxAccountFile, path: p}, nil
}

// boundedFile refuses, rather than cuts, a file that is longer than left.
type boundedFile struct {
	io.ReadCloser
	left int64
	path string
}

func (b *boundedFile) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, fmt.Errorf("%q exceeds %d bytes", b.path, maxAccountFile)
	}
	return n, err
}
