package verify

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// chmodReachesParents finds directories that a COPY makes on its way, which get
// the mode of --chmod too, and which the image's user surely cannot enter then.
var chmodReachesParents = perImage(func(b *result) []remark {
	u := b.user()
	if !u.other() {
		return nil
	}
	var list []remark
	for _, l := range b.layers(nil) {
		for _, a := range l.op.File.Actions {
			if a.Copy == nil || !octalMode.MatchString(a.Copy.Mode) || l.ins == nil {
				continue
			}
			if dir, ok := b.shut(l, a.Copy, u); ok {
				list = append(list, remark{
					ins: l.ins,
					what: "--chmod=" + a.Copy.Mode + " applies to " + dir.path + " too, which the " + l.ins.Keyword +
						" makes, so " + u.cannot() + " enter it",
					fix: u.entering(l.ins, a.Copy.Mode),
				})
				break
			}
		}
	}
	return list
})

var octalMode = regexp.MustCompile(`^[0-7]+$`)

// shut is a directory that a copy has made and that stays closed to the user.
func (b *result) shut(l layer, c *dockerfile.Copy, u user) (site, bool) {
	var up string
	for _, name := range strings.Split(path.Clean(c.Dest)[1:], "/") {
		up += "/" + name
		f := b.tree.find(up)
		if l.before.find(up).is == absent && f.is == present && f.node.IsDir() && b.tree.sure(f.path) && u.may(f.node, 1) == denied {
			return f.site, true
		}
	}
	return site{}, false
}

// entering is the instruction with a mode for files and one for directories. What
// others shall not read is made the user's.
func (u user) entering(ins *dockerfile.Instruction, mode string) string {
	others := (mode[len(mode)-1] & 4) != 0
	switch {
	case others:
		return withFlag(ins, "chmod", symbolic(mode))
	case !u.hasID || strings.Contains(ins.Text, "\n"):
		return withFlag(ins, "chmod", "u=rwX,go=rX")
	}
	group := u.uid
	if u.hasGroup {
		group = u.gid
	}
	owned := *ins
	owned.Text = withFlag(ins, "chmod", symbolic(mode))
	return withFlag(&owned, "chown", fmt.Sprintf("%d:%d", u.uid, group))
}

// symbolic is an octal mode that lets those enter directories who may read files.
func symbolic(mode string) string {
	var parts []string
	digits := mode[max(0, len(mode)-3):]
	for i, d := range digits {
		who := "ugo"[3-len(digits)+i:][:1]
		may := ""
		if d&4 != 0 {
			may += "r"
		}
		if d&2 != 0 {
			may += "w"
		}
		if d&5 != 0 {
			may += "X"
		}
		if d&1 != 0 {
			may = strings.Replace(may, "X", "x", 1)
		}
		parts = append(parts, who+"="+may)
	}
	return strings.Join(parts, ",")
}
