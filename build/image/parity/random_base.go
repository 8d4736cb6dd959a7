package parity

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// writeBase makes an image of one to four layers that add to, replace and hide
// what is below. Every layer lists the parents of its entries.
func (g *generator) writeBase(n int) {
	b := baseInfo{name: fmt.Sprintf("own%d", n)}
	fmt.Fprintf(&g.out, "-- %s!base --\n", b.name)
	if g.in(30) {
		g.out.WriteString("types docker\n")
	}
	g.out.WriteString(pick(g.dice, []string{
		"", `config {"User":"app"}` + "\n", `config {"WorkingDir":"/w","Env":["V=base","PATH=/b"]}` + "\n",
		`config {"User":"5:6","Cmd":["c"],"Entrypoint":["e"]}` + "\n", `config {"OnBuild":["ENV OB=1"]}` + "\n",
	}))
	tree := NewTree()
	for range 1 + g.IntN(4) {
		t := &treeMaker{dice: g.dice, kinds: map[string]string{}, owners: true}
		t.add(2 + g.IntN(8))
		g.writeLayer(tree, g.of("gzip gzip plain zstd"), append(t.lines, g.hide(t, tree)...))
	}
	if g.in(40) {
		g.writeLayer(tree, "gzip", []string{
			`dir etc`, `file etc/passwd text="root:x:0:0::/:\napp:x:1000:1001::/:\n"`, `file etc/group text="app:x:1001:\nweb:x:99:\n"`,
		})
	}
	b.paths = g.known(tree)
	g.bases = append(g.bases, b)
}

// writeLayer writes a layer of a base, and applies it to what is below.
func (g *generator) writeLayer(tree Tree, compression string, lines []string) {
	fmt.Fprintf(&g.out, "layer %s\n%s\n", compression, strings.Join(lines, "\n"))
	data, err := tarOf(lines)
	if err == nil {
		err = tree.Apply(data)
	}
	if err != nil {
		// Reading the case says the same, with the text that is wrong.
		fmt.Fprintf(&g.out, "# %v\n", err)
	}
}

// known are the paths of a base that instructions may name: links seldom, since
// most lead nowhere.
func (g *generator) known(tree Tree) []string {
	var out []string
	for _, at := range slices.Sorted(maps.Keys(tree)) {
		switch {
		case at == "/" || tree[at].Type == "sym" && !g.in(15):
		case tree[at].Type == "dir":
			out = append(out, at+"/")
		default:
			out = append(out, at)
		}
	}
	return out
}

// hide writes whiteouts and opaque directories. A whiteout hides something: one
// that does not would be seen as a broken file by overlayfs, where nothing of
// its directory is below. Nor is it of a name that this layer has itself.
func (g *generator) hide(t *treeMaker, below Tree) []string {
	var lines []string
	opaque := map[string]bool{}
	for _, dir := range t.dirs() {
		if dir != "" && g.in(8) {
			opaque["/"+dir] = true
			lines = append(lines, fmt.Sprintf(`file %s text=""`, strconv.Quote(dir+"/.wh..wh..opq")))
		}
	}
	for _, at := range slices.Sorted(maps.Keys(below)) {
		dir, name := path.Split(at)
		dir = path.Clean(dir)
		listed := dir == "/" || t.kinds[dir[1:]] == "dir"
		if at == "/" || !listed || t.kinds[at[1:]] != "" || insideOf(dir, opaque) || !g.in(30) {
			continue
		}
		lines = append(lines, fmt.Sprintf(`file %s text=""`, strconv.Quote(path.Join(dir, ".wh."+name)[1:])))
	}
	return lines
}

// insideOf reports whether dir is one of the directories, or below one.
func insideOf(dir string, dirs map[string]bool) bool {
	for ; dir != "/"; dir = path.Dir(dir) {
		if dirs[dir] {
			return true
		}
	}
	return false
}
