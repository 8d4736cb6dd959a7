package replay

import (
	"math"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// owner looks up whom files shall belong to. A user name that is not there is
// 0:0 and a group name that is not there changes nothing, as in BuildKit; only
// an empty tree, which has no account files at all, is an error.
func (r Replay) owner(o *dockerfile.Owner) (*rootfs.Owner, error) {
	if o == nil {
		return nil, nil
	}
	var owner rootfs.Owner
	if u := o.User; u != nil {
		if u.Name == "" {
			owner = rootfs.Owner{UID: id(u.ID), GID: id(u.ID)}
		} else if err := r.lookup(*u, func(t rootfs.Tree) (err error) {
			owner, _, err = rootfs.LookupUser(t, u.Name)
			return err
		}); err != nil {
			return nil, err
		}
	}
	if g := o.Group; g != nil {
		if g.Name == "" {
			owner.GID = id(g.ID)
		} else if err := r.lookup(*g, func(t rootfs.Tree) error {
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

func (r Replay) lookup(n dockerfile.Name, in func(rootfs.Tree) error) error {
	if n.In == dockerfile.Scratch {
		return &AccountError{Name: n.Name}
	}
	tree, err := r.tree(n.In)
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
