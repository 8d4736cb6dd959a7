package verify

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// namedUser finds a final USER that is a name. Kubernetes cannot tell that it is
// not root (runAsNonRoot) without a look into the image, and does not look.
var namedUser = perImage(func(b *result) []remark {
	u := b.user()
	name, _, _ := strings.Cut(u.text, ":")
	if _, err := strconv.Atoi(name); u.ins == nil || name == "" || name == "root" || err == nil {
		return nil
	}
	m := remark{ins: u.ins, what: "the user is the name " + name + ", of which Kubernetes cannot tell that it is not root (runAsNonRoot)"}
	if uid, gid, ok := b.ids(u, name); ok {
		m.fix = fmt.Sprintf("USER %d:%d", uid, gid)
	} else {
		m.fix = "the number of " + name + " instead of the name, as in USER 65532:65532"
	}
	return []remark{m}
})

// ids are the numbers of a named user, as far as the image or a RUN that adds
// the user says them.
func (b *result) ids(u user, name string) (uid, gid int, ok bool) {
	if u.hasID {
		return u.uid, u.gid, true
	}
	uid, ok = b.added(name)
	if gid = uid; u.hasGroup {
		gid = u.gid
	}
	return uid, gid, ok
}

var (
	addsUser = regexp.MustCompile(`\b(?:adduser|useradd)\b[^;&|]*`)
	lineEnd  = regexp.MustCompile(`\\\r?\n`) // of a line that goes on
	uidFlag  = regexp.MustCompile(`(?:^|\s)(?:-u|--uid)[ =]+([0-9]+)(?:\s|$)`)
)

// added is the number with which a RUN of the lineage adds a user.
func (b *result) added(name string) (int, bool) {
	for _, i := range b.stages {
		for _, ins := range b.r.File.Stages[i].Instructions {
			if ins.Keyword != "RUN" {
				continue
			}
			text := lineEnd.ReplaceAllString(ins.Text, " ")
			for _, command := range addsUser.FindAllString(text, -1) {
				m := uidFlag.FindStringSubmatch(command)
				if words := strings.Fields(command); m != nil && words[len(words)-1] == name {
					uid, err := strconv.Atoi(m[1])
					return uid, err == nil
				}
			}
		}
	}
	return 0, false
}
