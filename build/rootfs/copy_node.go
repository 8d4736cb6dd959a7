package rootfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"
	"time"
)

// pendingDir is a directory on the way to what is copied. With include patterns
// it is made only once something below it is taken.
type pendingDir struct {
	node   *Node
	target string
	made   bool
}

// node copies n, and what is below it, to target. rel is its path below the
// copied source, "" for the source itself. The parent of target exists, or is
// pending.
func (c *copier) node(ctx context.Context, n *Node, rel, target string, parent verdict) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v, err := parent, error(nil)
	if rel != "" {
		if v, err = c.filter.judge(rel, parent); err != nil {
			return err
		}
	}
	if !v.included && (!n.IsDir() || c.filter.include == nil && !c.filter.exceptions()) {
		return nil
	}
	have, err := c.inTheWay(target)
	if err != nil {
		return err
	}
	if v.included {
		if err := c.clear(target, n, have); err != nil {
			return err
		}
		if err := c.makePending(rel != ""); err != nil {
			return err
		}
	}
	if n.IsDir() {
		return c.dir(ctx, n, rel, target, v)
	}
	return c.file(n, target)
}

// inTheWay is what is at target, whose parents may be pending still: a link
// among them is an error only once something is taken, a file at once, also
// where a link leads to one.
func (c *copier) inTheWay(target string) (*Node, error) {
	have, err := lookup(c.e, target)
	if errors.Is(err, syscall.ENOTDIR) {
		_, err = c.e.Resolve("/", target, false)
	}
	if errors.Is(err, ErrTooManyLinks) {
		err = nil
	}
	return have, err
}

// clear removes what AlwaysReplace replaces. Two directories are merged.
func (c *copier) clear(target string, n, have *Node) error {
	if !c.spec.AlwaysReplace || have == nil || n.IsDir() && have.IsDir() {
		return nil
	}
	return c.e.Remove(target)
}

func (c *copier) makePending(below bool) error {
	for i := range c.pending {
		d := &c.pending[i]
		if d.made {
			continue
		}
		created, err := c.mkdir(d.target, d.node, below)
		if err != nil {
			return err
		}
		if created {
			if err := c.describe(d.target, d.node); err != nil {
				return err
			}
		}
		d.made = true
	}
	return nil
}

// mkdir makes target for n, and says whether it was missing. One that is there
// takes over the source's mode, but for the top of the copy.
func (c *copier) mkdir(target string, n *Node, below bool) (created bool, err error) {
	have, err := lookup(c.e, target)
	switch {
	case err != nil:
		return false, err
	case have == nil:
		return true, c.e.Put(target, &Node{Mode: n.Mode})
	case !have.IsDir():
		return false, fmt.Errorf("cannot copy to non-directory: %s", target)
	case below:
		d, err := c.e.Change(target)
		if err != nil {
			return false, err
		}
		d.Mode = n.Mode
	}
	return false, nil
}

func (c *copier) dir(ctx context.Context, n *Node, rel, target string, v verdict) error {
	created := false
	if v.included {
		var err error
		if created, err = c.mkdir(target, n, rel != ""); err != nil {
			return err
		}
	}
	if v.excluded && !c.filter.exceptions() {
		return nil
	}
	c.pending = append(c.pending, pendingDir{node: n, target: target, made: v.included})
	defer func() { c.pending = c.pending[:len(c.pending)-1] }()

	for _, name := range n.Names() {
		if err := c.node(ctx, n.Child(name), path.Join(rel, name), join(target, name), v); err != nil {
			return err
		}
	}
	switch {
	case !v.included:
		return nil
	case created || rel != "":
		return c.describe(target, n)
	}
	top, err := c.e.Change(target) // was there: of its source it gets the time alone
	if err != nil {
		return err
	}
	top.ModTime = c.time(n)
	return nil
}

// describe gives the directory at target what n's header says.
func (c *copier) describe(target string, n *Node) error {
	d, err := c.e.Change(target)
	if err != nil {
		return err
	}
	c.stamp(d, n)
	return nil
}

func (c *copier) stamp(d, n *Node) {
	d.Mode = c.chmod.apply(n.Mode)
	d.UID, d.GID = n.UID, n.GID
	if o := c.spec.Owner; o != nil {
		d.UID, d.GID = o.UID, o.GID
	}
	d.ModTime = c.time(n)
	if n.Cap != nil {
		d.Cap = n.Cap
	}
}

func (c *copier) time(n *Node) time.Time {
	if !c.spec.Time.IsZero() {
		return c.spec.Time
	}
	return n.ModTime
}

// file copies anything but a directory. What is at target goes, a directory
// excepted. More names of one regular file become hard links of its first copy.
func (c *copier) file(n *Node, target string) error {
	have, err := lookup(c.e, target)
	if err != nil {
		return err
	}
	if have.IsDir() {
		return fmt.Errorf("cannot replace to directory %s with file", target)
	}
	if made := c.links[n]; made != nil {
		return c.e.Put(target, made)
	}
	made := &Node{Link: n.Link, Major: n.Major, Minor: n.Minor, Size: n.Size, Data: n.Data}
	c.stamp(made, n)
	switch n.Mode.Type() {
	case 0:
		c.links[n] = made
	case fs.ModeDevice:
		// fsutil means to turn sockets into files, and clears a bit that
		// distinguishes block devices too.
		made.Mode |= fs.ModeCharDevice
	}
	if isWhiteout(made) {
		return pathError("mknod", target, syscall.EPERM) // as overlayfs has it
	}
	return c.e.Put(target, made)
}

// isWhiteout reports the device 0:0, which overlayfs keeps for itself.
func isWhiteout(n *Node) bool {
	return n.Mode&fs.ModeCharDevice != 0 && n.Major == 0 && n.Minor == 0
}
