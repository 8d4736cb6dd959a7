package image

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"time"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// action does one step of an instruction, which began with the tree of parent.
func (x *executor) action(ctx context.Context, e *rootfs.Editor, a dockerfile.Action, parent int) error {
	switch {
	case a.Copy != nil:
		return x.copy(ctx, e, a.Copy, parent)
	case a.Mkdir != nil:
		return x.mkdir(ctx, e, a.Mkdir)
	case a.Write != nil:
		return x.write(ctx, e, a.Write)
	}
	return errors.New("an action that this version does not know")
}

func (x *executor) copy(ctx context.Context, e *rootfs.Editor, c *dockerfile.Copy, parent int) error {
	source, err := x.at(c.From).tree(ctx)
	if err != nil {
		return err
	}
	owner, err := x.owner(ctx, c.Owner)
	if err != nil {
		return err
	}
	return rootfs.Copy(ctx, e, source, rootfs.CopySpec{
		Src: c.Src, Dest: c.Dest, Owner: owner, Mode: c.Mode,
		Include: c.Include, Exclude: c.Exclude, RequiredPaths: c.RequiredPaths,
		FollowSymlink: c.FollowSymlink, DirContents: c.DirContents, Unpack: c.Unpack,
		CreateDestPath: c.CreateDestPath, Wildcard: c.Wildcard, AllowEmptyWildcard: c.AllowEmptyWildcard,
		AlwaysReplace: c.AlwaysReplace, Time: unix(c.Timestamp), Spool: x.spool,
		Unkeyed: c.From == dockerfile.Scratch || c.From == parent,
	})
}

// mkdir makes the directory of a WORKDIR.
func (x *executor) mkdir(ctx context.Context, e *rootfs.Editor, m *dockerfile.Mkdir) error {
	owner, err := x.owner(ctx, m.Owner)
	if err != nil {
		return err
	}
	return e.Mkdir(rootfs.Mkdir{
		Path: m.Path, Mode: fs.FileMode(m.Mode), Parents: m.Parents, Owner: owner, Time: unix(m.Timestamp),
	})
}

// write makes the file of a heredoc.
func (x *executor) write(ctx context.Context, e *rootfs.Editor, w *dockerfile.Write) error {
	owner, err := x.owner(ctx, w.Owner)
	if err != nil {
		return err
	}
	return e.Write(rootfs.Write{
		Path: w.Path, Mode: fs.FileMode(w.Mode), Data: w.Data, Owner: owner, Time: unix(w.Timestamp),
	})
}

// unix is a timestamp of the front end in nanoseconds; -1, which is to keep
// times or to take the present, is the zero time, which the layer decides.
func unix(t int64) time.Time {
	if t < 0 {
		return time.Time{}
	}
	return time.Unix(0, t).UTC()
}

// owner looks up whom files shall belong to. A user name that is not there is
// 0:0 and a group name that is not there changes nothing, as in BuildKit; only
// an empty tree, which has no account files at all, is an error.
func (x *executor) owner(ctx context.Context, o *dockerfile.Owner) (*rootfs.Owner, error) {
	if o == nil {
		return nil, nil
	}
	var owner rootfs.Owner
	if u := o.User; u != nil {
		if u.Name == "" {
			owner = rootfs.Owner{UID: id(u.ID), GID: id(u.ID)}
		} else if err := x.lookup(ctx, *u, func(t rootfs.Tree) (err error) {
			owner, _, err = rootfs.LookupUser(t, u.Name)
			return err
		}); err != nil {
			return nil, err
		}
	}
	if g := o.Group; g != nil {
		if g.Name == "" {
			owner.GID = id(g.ID)
		} else if err := x.lookup(ctx, *g, func(t rootfs.Tree) error {
			gid, found, err := rootfs.LookupGroup(t, g.Name)
			if found {
				owner.GID = gid
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return &owner, nil
}

// id is a number as chown(2) takes it: 4294967295, which is -1, changes nothing,
// and what root made stays root's.
func id(n uint32) int {
	if n == math.MaxUint32 {
		return 0
	}
	return int(n)
}

func (x *executor) lookup(ctx context.Context, n dockerfile.Name, in func(rootfs.Tree) error) error {
	if n.In == dockerfile.Scratch {
		return &AccountError{Name: n.Name}
	}
	tree, err := x.at(n.In).tree(ctx)
	if err != nil {
		return err
	}
	return in(tree)
}

// AccountError says that an owner was given by name where nothing can say its
// number.
type AccountError struct{ Name string }

func (e *AccountError) Error() string {
	return "user or group " + e.Name + ": an empty image has no /etc/passwd"
}

// Hint is the line to show below the error.
func (e *AccountError) Hint() string { return "use numbers, e.g. 65532:65532" }
