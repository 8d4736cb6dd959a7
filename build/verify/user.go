package verify

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// user is whom an image's programs run as.
type user struct {
	ins   *dockerfile.Instruction // the USER that says so, nil where the base does or nobody
	text  string                  // as in the config
	known bool                    // text is what a container gets

	uid, gid        int // someone where unknown
	hasID, hasGroup bool
}

// root reports whether the user is root for certain, and other whether it is
// somebody else for certain: a name that is not root's is taken for that.
func (u user) root() bool  { return u.known && u.hasID && u.uid == 0 }
func (u user) other() bool { return u.known && (!u.hasID || u.uid != 0) }

// user is the last USER, or what the base is known to have.
func (b *result) user() user {
	u := user{ins: b.last("USER"), text: b.config.User}
	u.known = u.ins != nil || b.asked()
	if !u.known && b.known != nil && b.known.user != "" {
		u.text, u.known = b.known.user, true
	}
	name, group, grouped := strings.Cut(u.text, ":")
	grouped = grouped && group != ""
	u.identify(b, name)
	if id, err := strconv.Atoi(group); grouped {
		u.gid, u.hasGroup = id, err == nil
		if err != nil {
			u.gid, u.hasGroup = b.account(group, "/etc/group")
		}
	}
	return u
}

// identify finds the ids of a user that is named without a group. A number that
// /etc/passwd does not have gets group 0; groups that it is a member of are not
// looked up.
func (u *user) identify(b *result, name string) {
	uid, err := strconv.Atoi(name)
	switch {
	case name == "":
		u.hasID, u.hasGroup = true, true
	case err != nil && name == "root":
		u.hasID, u.hasGroup = true, true
	case err != nil:
		u.uid, u.hasID = b.account(name, "/etc/passwd")
		u.gid = b.primary(name, u.uid)
	default:
		u.uid, u.hasID = uid, true
		u.hasGroup = b.tree.find("/etc/passwd").is == absent && b.tree.find("/etc/group").is == absent
		if w := b.tree; w.ground.base != nil && w.ground.base.users != nil && w.untouched("/etc/passwd") && w.untouched("/etc/group") {
			u.hasGroup = true
			for _, id := range w.ground.base.users {
				if id == uid {
					u.gid = id
				}
			}
		}
	}
}

// account is the number of a user or group of the image.
func (b *result) account(name, file string) (id int, ok bool) {
	w := b.tree
	switch f := w.find(file); {
	case f.is == present && file == "/etc/passwd":
		o, found, err := rootfs.LookupUser(w.tree, name)
		return o.UID, found && err == nil
	case f.is == present:
		id, found, err := rootfs.LookupGroup(w.tree, name)
		return id, found && err == nil
	}
	if w.ground.base == nil || !w.untouched(file) {
		return 0, false
	}
	table := w.ground.base.users
	if file == "/etc/group" {
		table = w.ground.base.groups
	}
	id, ok = table[name]
	return id, ok
}

// primary is the group of a named user, a member of others as well maybe. Where
// it is not known it has the user's number.
func (b *result) primary(name string, uid int) int {
	if b.tree.find("/etc/passwd").is == present {
		if o, found, err := rootfs.LookupUser(b.tree.tree, name); found && err == nil {
			return o.GID
		}
	}
	return uid
}

// verdict is what can be said of a permission.
type verdict int

const (
	perhaps verdict = iota
	allowed
	denied
)

// may says whether the user has a permission, 4 to read and 1 to execute or
// enter. Root may read and enter everything and execute what anybody may.
func (u user) may(n *rootfs.Node, bit fs.FileMode) verdict {
	owner, group, others := n.Mode&(bit<<6) != 0, n.Mode&(bit<<3) != 0, n.Mode&bit != 0
	isRoot := bit == 4 || n.IsDir() || owner || group || others
	var cases []bool // what it may be
	switch {
	case u.root():
		cases = []bool{isRoot}
	case !u.known:
		cases = []bool{isRoot, owner, group, others}
	case !u.other() || n.UID == someone || !u.hasID && n.UID != 0:
		cases = []bool{owner, group, others}
	case u.hasID && u.uid == n.UID:
		cases = []bool{owner}
	case !u.hasGroup || n.GID == someone:
		cases = []bool{group, others}
	case u.gid == n.GID:
		cases = []bool{group}
	default:
		cases = []bool{others}
	}
	switch {
	case !slices.Contains(cases, true):
		return denied
	case !slices.Contains(cases, false):
		return allowed
	}
	return perhaps
}
