package parity

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	fileModes = "0644 0644 0644 0755 0600 0400 0000 4755 2711 1666 6711"
	dirModes  = "0755 0755 0755 0700 0750 2775 1777 0000 2700"
	names     = "a b c.txt d.txt e.md lib etc sub x .h ü"
)

// treeMaker writes entries of one tree, whose parents always come first.
type treeMaker struct {
	dice
	kinds  map[string]string // path: kind
	order  []string          // paths, as written
	lines  []string
	owners bool // entries have owners and times: not in a context
}

// dirs are the directories of the tree; "" is its root.
func (t *treeMaker) dirs() []string {
	out := []string{""}
	for _, p := range t.order {
		if t.kinds[p] == "dir" {
			out = append(out, p)
		}
	}
	return out
}

// known are paths that instructions may name: directories with a slash, and links
// seldom, since most lead nowhere.
func (t *treeMaker) known() []string {
	var out []string
	for _, p := range t.order {
		switch t.kinds[p] {
		case "dir":
			out = append(out, p+"/")
		case "sym":
			if t.in(15) {
				out = append(out, p)
			}
		default:
			out = append(out, p)
		}
	}
	return out
}

// add writes n entries. Names that are taken are passed over.
func (t *treeMaker) add(n int) {
	for range n {
		p := path.Join(pick(t.dice, t.dirs()), t.of(names))
		if t.in(4) {
			p += " y"
		}
		if t.kinds[p] == "" && strings.Count(p, "/") < 5 {
			t.entry(p)
		}
	}
}

func (t *treeMaker) entry(p string) {
	line := ""
	switch n := t.IntN(100); {
	case n < 45:
		line = t.plain("file", p)
	case n < 75:
		line = t.plain("dir", p)
	case n < 88:
		line = fmt.Sprintf("sym %s to=%s", strconv.Quote(p), strconv.Quote(t.linkTarget()))
	case n < 95:
		files := slices.DeleteFunc(slices.Clone(t.order), func(p string) bool { return t.kinds[p] != "file" })
		if len(files) == 0 {
			return
		}
		line = fmt.Sprintf("hard %s to=%s", strconv.Quote(p), strconv.Quote(pick(t.dice, files)))
		if t.owners {
			// A link's own header counts for the file: it must not contradict it.
			line = t.sameHeader(line)
		}
	default:
		line = t.plain("fifo", p)
	}
	t.kinds[p] = strings.Fields(line)[0]
	t.order = append(t.order, p)
	t.lines = append(t.lines, line)
}

func (t *treeMaker) plain(kind, p string) string {
	mode := t.of(fileModes)
	if kind == "dir" {
		mode = t.of(dirModes)
	}
	line := fmt.Sprintf("%s %s %s", kind, strconv.Quote(p), mode)
	if kind == "file" {
		// Few contents, so that files can be equal.
		line += fmt.Sprintf(" text=%q", t.of("1 2 3")+"\n")
	}
	if t.owners {
		line += " " + t.of("0:0 0:0 0:0 1:2 1000:1001 65532:65532")
		if kind == "file" && t.in(5) {
			line += " cap=1"
		}
		if t.in(20) {
			line += " time=" + t.of("0 1 86400")
		}
	}
	return line
}

// sameHeader gives a hard link the mode, owner and time of its target.
func (t *treeMaker) sameHeader(line string) string {
	target := line[strings.Index(line, " to=")+len(" to="):]
	for _, l := range t.lines {
		if rest, ok := strings.CutPrefix(l, "file "+target+" "); ok {
			words := slices.DeleteFunc(strings.Fields(rest), func(w string) bool {
				return strings.HasPrefix(w, "text=") || strings.HasPrefix(w, "cap=")
			})
			return line + " " + strings.Join(words, " ")
		}
	}
	return line
}

// linkTarget is relative, absolute, upwards, dangling, or the link's own place.
func (t *treeMaker) linkTarget() string {
	to := "nowhere"
	if len(t.order) > 0 && !t.in(12) {
		to = pick(t.dice, t.order)
	}
	switch t.IntN(5) {
	case 0:
		return "/" + to
	case 1:
		return "../" + to
	case 2:
		return path.Base(to)
	}
	return to
}

func (g *generator) writeContext() {
	t := &treeMaker{dice: g.dice, kinds: map[string]string{"a.txt": "file", "Dockerfile": "file"}}
	t.add(4 + g.IntN(14))
	if len(t.order) == 0 {
		t.entry("a")
	}
	g.context = append(t.known(), "a.txt")
	fmt.Fprintf(&g.out, "-- !context --\n%s\n", strings.Join(t.lines, "\n"))
}

// writeArchive makes a tar whose entries may lack parents, come twice, or begin
// with ./.
func (g *generator) writeArchive(n int) {
	t := &treeMaker{dice: g.dice, kinds: map[string]string{}, owners: true}
	t.add(2 + g.IntN(8))
	var lines []string
	for _, l := range t.lines {
		switch {
		case strings.HasPrefix(l, "dir ") && g.in(15):
			continue
		case g.in(10):
			kind, rest, _ := strings.Cut(l, " \"")
			l = kind + " \"./" + rest
		}
		lines = append(lines, l)
		if g.in(5) {
			lines = append(lines, l)
		}
	}
	name := fmt.Sprintf("arc%d.%s", n, g.of("tar tar.gz tgz tar.zst bin"))
	g.archives = append(g.archives, name)
	g.context = append(g.context, name)
	fmt.Fprintf(&g.out, "-- %s!tar --\n%s\n", name, strings.Join(lines, "\n"))
}
