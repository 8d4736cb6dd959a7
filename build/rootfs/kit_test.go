package rootfs

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// someCap is a capability as the kernel stores it.
var someCap = []byte("\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")

// plant makes a tree of lines, one node each, parents implied:
//
//	bin/app 0755 5:6 @100 +cap =content
//	dir/ 02755 · link ->target · other ^bin/app (hard link) · pipe |fifo · tty %5:1 · disk #8:1
func plant(t testing.TB, lines ...string) Tree {
	t.Helper()
	e := Tree{}.Edit()
	for _, line := range lines {
		p, n := parseLine(t, e, line)
		if p == "/" {
			root, err := e.Change("/")
			if err != nil {
				t.Fatal(err)
			}
			root.like(n)
			continue
		}
		if err := e.MkdirAll(path.Dir(p), 0o755, nil); err != nil {
			t.Fatal(err)
		}
		if have, _ := e.Lstat(p); have.IsDir() && n.IsDir() {
			d, _ := e.Change(p)
			d.like(n)
		} else if err := e.Put(p, n); err != nil {
			t.Fatal(err)
		}
	}
	return e.Tree()
}

func parseLine(t testing.TB, e *Editor, line string) (string, *Node) {
	t.Helper()
	name, rest, _ := strings.Cut(line, " ")
	n := &Node{Mode: 0o644}
	if strings.HasSuffix(name, "/") {
		n.Mode = fs.ModeDir | 0o755
	}
	p := clean(name)
	mode := int64(-1)
	for _, f := range strings.Fields(rest) {
		switch arg := f[1:]; f[0] {
		case '=':
			n.Data, n.Size = &textContent{arg}, int64(len(arg))
		case '-':
			n.Mode, n.Link = fs.ModeSymlink|0o777, arg[1:]
		case '^':
			first, err := e.Lstat(arg)
			if err != nil {
				t.Fatal(err)
			}
			return p, first
		case '|':
			n.Mode = fs.ModeNamedPipe | 0o644
		case '%', '#':
			n.Mode = fs.ModeDevice | 0o644
			if f[0] == '%' {
				n.Mode |= fs.ModeCharDevice
			}
			if _, err := fmt.Sscanf(arg, "%d:%d", &n.Major, &n.Minor); err != nil {
				t.Fatal(err)
			}
		case '@':
			sec, _ := strconv.ParseInt(arg, 10, 64)
			n.ModTime = time.Unix(sec, 0)
		case '+':
			n.Cap = someCap
		default:
			if f[0] == '0' && !strings.Contains(f, ":") {
				mode, _ = strconv.ParseInt(f, 8, 64)
			} else if _, err := fmt.Sscanf(f, "%d:%d", &n.UID, &n.GID); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
	}
	if mode >= 0 {
		n.Mode = n.Mode.Type() | unixMode(mode)
	}
	return p, n
}

// textContent is a content that can be compared.
type textContent struct{ s string }

func (c *textContent) Open() (io.ReadCloser, error) { return Bytes(c.s).Open() }

// listing is the reverse of plant, root and times included where they say
// something.
func listing(t testing.TB, tree Tree) []string {
	t.Helper()
	var out []string
	first := map[*Node]string{}
	err := tree.Walk("/", func(p string, n *Node) error {
		p = strings.TrimPrefix(p, "/")
		if p == "" && n.Mode == fs.ModeDir|0o755 && n.UID == 0 && n.GID == 0 && n.ModTime.IsZero() {
			return nil
		}
		if was, ok := first[n]; ok {
			out = append(out, p+" ^"+was)
			return nil
		}
		if !n.IsDir() {
			first[n] = p
		}
		out = append(out, p+describeNode(t, n))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func describeNode(t testing.TB, n *Node) string {
	t.Helper()
	var s strings.Builder
	usual := fs.FileMode(0o644)
	switch n.Mode.Type() {
	case fs.ModeDir:
		s.WriteString("/")
		usual = 0o755
	case fs.ModeSymlink:
		usual = 0o777
	}
	if got := n.Mode &^ fs.ModeType; got != usual {
		fmt.Fprintf(&s, " 0%o", tarMode(n.Mode))
	}
	if n.UID != 0 || n.GID != 0 {
		fmt.Fprintf(&s, " %d:%d", n.UID, n.GID)
	}
	if !n.ModTime.IsZero() {
		fmt.Fprintf(&s, " @%d", n.ModTime.Unix())
	}
	if n.Cap != nil {
		s.WriteString(" +cap")
	}
	switch n.Mode.Type() {
	case 0:
		if text := readAll(t, n); text != "" {
			s.WriteString(" =" + text)
		}
	case fs.ModeSymlink:
		s.WriteString(" ->" + n.Link)
	case fs.ModeNamedPipe:
		s.WriteString(" |fifo")
	case fs.ModeDevice:
		fmt.Fprintf(&s, " #%d:%d", n.Major, n.Minor)
	case fs.ModeDevice | fs.ModeCharDevice:
		fmt.Fprintf(&s, " %%%d:%d", n.Major, n.Minor)
	}
	return s.String()
}

func readAll(t testing.TB, n *Node) string {
	t.Helper()
	r, err := n.open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(data)) != n.Size {
		t.Errorf("content has %d bytes, node says %d", len(data), n.Size)
	}
	return string(data)
}

// holds compares a tree with lines in listing's form, in any order.
func holds(t testing.TB, tree Tree, want ...string) {
	t.Helper()
	got := listing(t, tree)
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("tree is\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// fails wants an error that says so, or none for "".
func fails(t testing.TB, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Errorf("no error, want %q", want)
	case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want %q", err, want)
	}
}
