// Package replay runs the file operations of a recipe on trees: what COPY, ADD
// and WORKDIR do, as BuildKit v0.34.2 does it. Where the trees that they take
// from come from is up to the caller.
package replay

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// Replay runs operations. It may be used from several goroutines if Tree may.
type Replay struct {
	// Tree gives the result of an earlier operation, by its index in the
	// recipe. It is not asked for [dockerfile.Scratch], the empty tree.
	Tree func(op int) (rootfs.Tree, error)

	Spool *rootfs.Spool // content of archives that ADD unpacks; nil makes an archive an error
}

// File runs the actions of one instruction, which make one layer: the one that
// leads from lower, the tree they began with, to upper.
func (r Replay) File(ctx context.Context, f *dockerfile.FileOp) (lower, upper rootfs.Tree, err error) {
	if lower, err = r.tree(f.Parent); err != nil {
		return lower, upper, err
	}
	edit := lower.Edit()
	for _, action := range f.Actions {
		if err := ctx.Err(); err != nil {
			return lower, upper, err
		}
		if err := r.Action(ctx, edit, action, f.Parent); err != nil {
			return lower, upper, err
		}
	}
	return lower, edit.Tree(), nil
}

// Action does one step of an instruction, which began with the tree of parent.
// After an error e holds a part of it and should be dropped.
func (r Replay) Action(ctx context.Context, e *rootfs.Editor, a dockerfile.Action, parent int) error {
	switch {
	case a.Copy != nil:
		return r.copy(ctx, e, a.Copy, parent)
	case a.Mkdir != nil:
		return r.mkdir(e, a.Mkdir)
	case a.Write != nil:
		return r.write(e, a.Write)
	}
	return errors.New("an action that this version does not know")
}

func (r Replay) tree(op int) (rootfs.Tree, error) {
	if op == dockerfile.Scratch {
		return rootfs.Tree{}, nil
	}
	return r.Tree(op)
}

func (r Replay) copy(ctx context.Context, e *rootfs.Editor, c *dockerfile.Copy, parent int) error {
	source, err := r.tree(c.From)
	if err != nil {
		return err
	}
	owner, err := r.owner(c.Owner)
	if err != nil {
		return err
	}
	return rootfs.Copy(ctx, e, source, rootfs.CopySpec{
		Src: c.Src, Dest: c.Dest, Owner: owner, Mode: c.Mode,
		Include: c.Include, Exclude: c.Exclude, RequiredPaths: c.RequiredPaths,
		FollowSymlink: c.FollowSymlink, DirContents: c.DirContents, Unpack: c.Unpack,
		CreateDestPath: c.CreateDestPath, Wildcard: c.Wildcard, AllowEmptyWildcard: c.AllowEmptyWildcard,
		AlwaysReplace: c.AlwaysReplace, Time: unix(c.Timestamp), Spool: r.Spool,
		Unkeyed: c.From == dockerfile.Scratch || c.From == parent,
	})
}

// mkdir makes the directory of a WORKDIR.
func (r Replay) mkdir(e *rootfs.Editor, m *dockerfile.Mkdir) error {
	owner, err := r.owner(m.Owner)
	if err != nil {
		return err
	}
	return e.Mkdir(rootfs.Mkdir{
		Path: m.Path, Mode: fs.FileMode(m.Mode), Parents: m.Parents, Owner: owner, Time: unix(m.Timestamp),
	})
}

// write makes the file of a heredoc.
func (r Replay) write(e *rootfs.Editor, w *dockerfile.Write) error {
	owner, err := r.owner(w.Owner)
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
