package rootfs

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Trees in tests are text, a line for each name:
//
//	/dir/ [mode] [uid:gid]
//	/file [mode] [uid:gid] = content
//	/link -> target
//	/name == /other        a hard link
//
// Modes are octal with special bits, 755 for directories and 644 for files
// where left out; owners are 0:0.

// specTree builds the tree of lines on the empty one.
func specTree(t *testing.T, lines ...string) Tree {
	t.Helper()
	return specEdit(t, Tree{}, lines...)
}

// specEdit puts lines into base.
func specEdit(t *testing.T, base Tree, lines ...string) Tree {
	t.Helper()
	e := base.Edit()
	for _, line := range lines {
		if to, ok := strings.CutPrefix(line, "- "); ok {
			must(t, e.Remove(to))
		} else if name, to, ok := strings.Cut(line, " == "); ok {
			n, err := e.Lstat(to)
			must(t, err)
			must(t, e.Put(name, n))
		} else {
			p, n := specNode(t, line)
			must(t, e.Put(p, n))
		}
	}
	return e.Tree()
}

func specNode(t *testing.T, line string) (string, *Node) {
	t.Helper()
	if name, to, ok := strings.Cut(line, " -> "); ok {
		return name, &Node{Mode: fs.ModeSymlink | 0o777, Link: to}
	}
	head, content, isFile := strings.Cut(line, " = ")
	fields := strings.Fields(head)
	n := &Node{Mode: 0o644}
	if strings.HasSuffix(fields[0], "/") {
		n.Mode = fs.ModeDir | 0o755
	} else if isFile {
		n.Data, n.Size = Bytes(content), int64(len(content))
	}
	for _, f := range fields[1:] {
		if strings.Contains(f, ":") {
			_, err := fmt.Sscanf(f, "%d:%d", &n.UID, &n.GID)
			must(t, err)
			continue
		}
		mode, err := strconv.ParseInt(f, 8, 32)
		must(t, err)
		n.Mode = n.Mode.Type() | (&tar.Header{Mode: mode}).FileInfo().Mode()
	}
	return fields[0], n
}

// specText is the tree as lines, sorted; times that are not 1970 and
// capabilities too.
func specText(t *testing.T, tree Tree) string {
	t.Helper()
	var out strings.Builder
	first := map[*Node]string{}
	must(t, tree.Walk("/", func(p string, n *Node) error {
		if p != "/" {
			fmt.Fprintln(&out, specLine(t, first, p, n))
		}
		return nil
	}))
	return out.String()
}

func specLine(t *testing.T, first map[*Node]string, p string, n *Node) string {
	t.Helper()
	if to, ok := first[n]; ok {
		return p + " == " + to
	}
	if !n.IsDir() {
		first[n] = p
	}
	line, plain := p, int64(0o644)
	switch n.Mode.Type() {
	case 0:
	case fs.ModeDir:
		line, plain = p+"/", 0o755
	case fs.ModeSymlink:
		plain = 0o777
	default:
		line += fmt.Sprintf(" (%s %d,%d)", n.Mode.Type(), n.Major, n.Minor)
	}
	if m := tarMode(n.Mode); m != plain {
		line += fmt.Sprintf(" %o", m)
	}
	if n.UID != 0 || n.GID != 0 {
		line += fmt.Sprintf(" %d:%d", n.UID, n.GID)
	}
	if sec := n.ModTime.Unix(); !n.IsDir() && !n.ModTime.IsZero() && sec != 0 {
		line += fmt.Sprintf(" @%d", sec)
	}
	if len(n.Cap) > 0 {
		line += fmt.Sprintf(" cap=%x", n.Cap)
	}
	if n.IsLink() {
		line += " -> " + n.Link
	}
	if n.Mode.IsRegular() {
		line += " = " + contentOf(t, n)
	}
	return strings.TrimSuffix(line, " = ")
}

func contentOf(t *testing.T, n *Node) string {
	t.Helper()
	r, err := n.open()
	must(t, err)
	defer r.Close()
	b, err := io.ReadAll(r)
	must(t, err)
	if int64(len(b)) != n.Size {
		t.Errorf("content of %d bytes, size says %d", len(b), n.Size)
	}
	return string(b)
}

// specEntries is a layer as lines.
func specEntries(t *testing.T, entries []Entry) string {
	t.Helper()
	var out strings.Builder
	first := map[*Node]string{}
	for _, x := range entries {
		line := "whiteout " + x.Path
		if x.Node != nil {
			line = specLine(t, first, x.Path, x.Node)
		} else if x.Opaque {
			line = x.Path + "/ implied"
		}
		if x.Opaque {
			line += " opaque"
		}
		fmt.Fprintln(&out, line)
	}
	return out.String()
}

// specCheck compares text with the lines that it shall have.
func specCheck(t *testing.T, got string, want ...string) {
	t.Helper()
	text := strings.Join(want, "\n")
	if len(want) > 0 {
		text += "\n"
	}
	if got != text {
		t.Errorf("got:\n%swant:\n%s", got, text)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rawTar writes headers as they are, with the content of regular files.
func rawTar(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		content := ""
		if h.Typeflag == tar.TypeReg || h.Typeflag == 0 {
			content = h.Uname // no layer has it, so tests use it for this
			h.Uname = ""
			h.Size = int64(len(content))
		}
		if h.Mode == 0 && h.Typeflag != tar.TypeXGlobalHeader {
			h.Mode = 0o644
		}
		if h.Typeflag != tar.TypeXGlobalHeader && h.ModTime.IsZero() {
			h.ModTime = time.Unix(0, 0)
		}
		must(t, w.WriteHeader(&h))
		_, err := io.WriteString(w, content)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// Headers of rawTar.
func tarFile(name, content string) tar.Header { return tar.Header{Name: name, Uname: content} }

func tarDir(name string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: 0o755}
}

func tarSymlink(name, to string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to, Mode: 0o777}
}

func tarLink(name, to string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeLink, Linkname: to}
}

// within gives the contents of a layer that is in memory.
func within(layer []byte) func(off, size int64) Content {
	return func(off, size int64) Content { return Bytes(slices.Clone(layer[off : off+size])) }
}

func readLayer(t testing.TB, layer []byte) []Entry {
	t.Helper()
	entries, err := ReadLayer(bytes.NewReader(layer), within(layer))
	must(t, err)
	return entries
}

func writeLayer(t testing.TB, entries []Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, WriteLayer(&b, entries, time.Time{}))
	return b.Bytes()
}
