package audit

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/archmage-go/archmage/build/rootfs"
)

// account is who a container runs as.
type account struct {
	uid    int
	groups []int
}

// mayStart returns why the image's user cannot start the file at p, which is
// free of links; "" where nothing is in the way, or it cannot be told.
func (l *look) mayStart(p string, n *rootfs.Node) string {
	if n.Mode.Perm()&0o111 == 0 {
		return "is not executable"
	}
	for _, on := range append(l.above(p), n) {
		if on.Mode.Perm()&0o111 == 0o111 {
			continue // for everybody, whoever that is
		}
		who, ok := l.user()
		if !ok {
			return ""
		}
		if !who.may(on, 1) {
			what := "is not executable"
			if on != n {
				what = "is in a directory that cannot be entered"
			}
			return what + " for its user " + l.config.Config.User
		}
	}
	return ""
}

// above are the directories that lead to p.
func (l *look) above(p string) (dirs []*rootfs.Node) {
	for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
		if n, err := l.tree.Lstat(dir); err == nil {
			dirs = append(dirs, n)
		}
	}
	return dirs
}

// may reports whether who has the permission bit: 4 to read, 1 to execute a file
// or enter a directory. The first class that fits decides, as in
// path_resolution(7); root executes what anybody may, and does all else.
func (who account) may(n *rootfs.Node, bit fs.FileMode) bool {
	perm := n.Mode.Perm()
	switch {
	case who.uid == 0:
		return n.IsDir() || bit != 1 || perm&0o111 != 0
	case who.uid == n.UID:
		return perm&(bit<<6) != 0
	case slices.Contains(who.groups, n.GID):
		return perm&(bit<<3) != 0
	}
	return perm&bit != 0
}

// mayRead reports whether the image's user can read a file, as far as that can
// be told.
func (l *look) mayRead(n *rootfs.Node) bool {
	if n.Mode.Perm()&0o444 == 0o444 {
		return true
	}
	who, ok := l.user()
	return !ok || who.may(n, 4)
}

// user reads USER as runtimes do (moby/sys user.GetExecUser): numbers as they
// are, names by the image's own files, whose further groups count where USER
// names none. Not ok is a finding, or cannot be told.
func (l *look) user() (account, bool) {
	text := l.config.Config.User
	name, group, hasGroup := strings.Cut(text, ":")
	who := account{}
	passwd, known := l.lines("/etc/passwd")
	entry := find(passwd, name, 2)
	uid, err := strconv.Atoi(name)
	switch {
	case name == "" || name == "root" && entry == nil:
	case entry != nil:
		who.uid, _ = strconv.Atoi(entry[2])
		if len(entry) > 3 {
			gid, _ := strconv.Atoi(entry[3])
			who.groups = append(who.groups, gid)
		}
		name = entry[0]
	case err == nil:
		who.uid, who.groups = uid, []int{0}
	case known:
		l.wrong(fixUser, "", "its user %s is not in its /etc/passwd, so it does not start", name)
		return who, false
	default:
		return who, false
	}
	return who, l.groups(&who, name, group, hasGroup)
}

// userName is USER without its group.
func userName(user string) string {
	name, _, _ := strings.Cut(user, ":")
	return name
}

// groups adds what /etc/group says.
func (l *look) groups(who *account, name, group string, hasGroup bool) bool {
	lines, known := l.lines("/etc/group")
	if !hasGroup {
		for _, e := range lines {
			if gid, err := strconv.Atoi(field(e, 2)); err == nil && name != "" && slices.Contains(strings.Split(field(e, 3), ","), name) {
				who.groups = append(who.groups, gid)
			}
		}
		return true
	}
	if gid, err := strconv.Atoi(group); err == nil {
		who.groups = []int{gid}
		return true
	}
	if e := find(lines, group, 2); e != nil {
		gid, _ := strconv.Atoi(e[2])
		who.groups = []int{gid}
		return true
	}
	if known {
		l.wrong(fixUser, "", "its group %s is not in its /etc/group, so it does not start", group)
	}
	return false
}

// find is the line of a name, or of a number in a field.
func find(lines [][]string, key string, number int) []string {
	for _, e := range lines {
		if e[0] == key || field(e, number) == key {
			return e
		}
	}
	return nil
}

func field(e []string, i int) string {
	if i < len(e) {
		return e[i]
	}
	return ""
}

// lines are the fields of a file like /etc/passwd, and whether that is all: a
// file that is not there has none.
func (l *look) lines(p string) (lines [][]string, known bool) {
	data, known := l.text(p)
	for line := range strings.Lines(data) {
		if fields := strings.Split(strings.TrimRight(line, "\n"), ":"); len(fields) > 2 {
			lines = append(lines, fields)
		}
	}
	return lines, known
}

// atHand reports whether a file can be read without reading a base's layer for
// it that nothing else has needed. What is not there is at hand.
func (l *look) atHand(p string) bool {
	n, err := l.tree.Stat(p)
	if err != nil {
		return true
	}
	c, ok := n.Data.(*content)
	return !ok || c.layer.read
}

// text is a small file of the image, "" where it is not there, and whether that
// is certain.
func (l *look) text(p string) (string, bool) {
	n, err := l.tree.Stat(p)
	if err != nil {
		return "", !l.partial
	}
	if n.Mode&fs.ModeType != 0 || n.Data == nil {
		return "", true
	}
	r, err := n.Data.Open()
	if err != nil {
		return "", false
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, smallFile))
	return string(data), err == nil
}
