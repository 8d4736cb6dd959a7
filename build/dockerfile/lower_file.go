package dockerfile

import (
	"fmt"

	"github.com/moby/buildkit/solver/pb"
)

// file converts the actions of one layer. Each works on the result of the one
// before, the first on the parent.
func (l *lowering) file(in *pb.Op, f *pb.FileOp) (*FileOp, error) {
	op := &FileOp{Parent: Scratch}
	for i, a := range f.Actions {
		switch {
		case i == 0:
			parent, err := l.input(in, a.Input)
			if err != nil {
				return nil, err
			}
			op.Parent = parent
		case a.Input != int64(len(in.Inputs)+i-1): // inputs are counted first, then actions
			return nil, fmt.Errorf("action %d does not follow the one before", i)
		}
		if last := i == len(f.Actions)-1; last != (a.Output == 0) {
			return nil, fmt.Errorf("action %d: unexpected output %d", i, a.Output)
		}
		action, err := l.action(in, a)
		if err != nil {
			return nil, err
		}
		op.Actions = append(op.Actions, action)
	}
	if len(op.Actions) == 0 {
		return nil, fmt.Errorf("no action")
	}
	return op, nil
}

func (l *lowering) action(in *pb.Op, a *pb.FileAction) (out Action, err error) {
	switch c := a.Action.(type) {
	case *pb.FileAction_Copy:
		out.Copy, err = l.copy(in, a.SecondaryInput, c.Copy)
	case *pb.FileAction_Mkdir:
		m := c.Mkdir
		out.Mkdir = &Mkdir{Path: m.Path, Mode: uint32(m.Mode), Parents: m.MakeParents, Timestamp: m.Timestamp}
		out.Mkdir.Owner, err = l.owner(in, m.Owner)
	case *pb.FileAction_Mkfile:
		m := c.Mkfile
		out.Write = &Write{Path: m.Path, Mode: uint32(m.Mode), Data: m.Data, Timestamp: m.Timestamp}
		out.Write.Owner, err = l.owner(in, m.Owner)
	default:
		err = fmt.Errorf("unexpected action %T", a.Action)
	}
	return out, err
}

func (l *lowering) copy(in *pb.Op, from int64, c *pb.FileActionCopy) (*Copy, error) {
	src, err := l.input(in, from)
	if err != nil {
		return nil, err
	}
	owner, err := l.owner(in, c.Owner)
	if err != nil {
		return nil, err
	}
	return &Copy{
		From: src, Src: c.Src, Dest: c.Dest, Owner: owner, Mode: mode(c),
		Include: c.IncludePatterns, Exclude: c.ExcludePatterns, RequiredPaths: c.RequiredPaths,
		FollowSymlink:      c.FollowSymlink,
		DirContents:        c.DirCopyContents,
		Unpack:             c.AttemptUnpackDockerCompatibility,
		CreateDestPath:     c.CreateDestPath,
		Wildcard:           c.AllowWildcard,
		AllowEmptyWildcard: c.AllowEmptyWildcard,
		AlwaysReplace:      c.AlwaysReplaceExistingDestPaths,
		Timestamp:          c.Timestamp,
	}, nil
}

// mode is --chmod; a negative mode means that there is none.
func mode(c *pb.FileActionCopy) string {
	if c.ModeStr != "" || c.Mode < 0 {
		return c.ModeStr
	}
	return fmt.Sprintf("%04o", c.Mode)
}

func (l *lowering) owner(in *pb.Op, o *pb.ChownOpt) (*Owner, error) {
	if o == nil {
		return nil, nil
	}
	user, err := l.name(in, o.User)
	if err != nil {
		return nil, err
	}
	group, err := l.name(in, o.Group)
	if err != nil {
		return nil, err
	}
	return &Owner{User: user, Group: group}, nil
}

func (l *lowering) name(in *pb.Op, u *pb.UserOpt) (*Name, error) {
	switch v := u.GetUser().(type) {
	case nil:
		return nil, nil
	case *pb.UserOpt_ByID:
		return &Name{ID: v.ByID, In: Scratch}, nil
	case *pb.UserOpt_ByName:
		at, err := l.input(in, v.ByName.Input)
		return &Name{Name: v.ByName.Name, In: at}, err
	default:
		return nil, fmt.Errorf("unexpected owner %T", v)
	}
}
