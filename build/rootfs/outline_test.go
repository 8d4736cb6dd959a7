package rootfs

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// outlineOf is an outline in which each content is named by what it holds.
func outlineOf(t *testing.T, entries []Entry, epoch time.Time) string {
	t.Helper()
	var out bytes.Buffer
	must(t, Outline(&out, entries, epoch, func(w io.Writer, n *Node) error {
		_, err := io.WriteString(w, "<"+readAll(t, n)+">")
		return err
	}))
	return out.String()
}

// An outline has to be equal for equal layers, and for no others.
func TestOutlinesDifferWhereLayersDo(t *testing.T) {
	layers, outlines := map[string]string{}, map[string]string{}
	r := rand.New(rand.NewPCG(7, 7))
	for range 400 {
		e := Tree{}.Edit()
		scribble(t, r, e, 1+r.IntN(3))
		entries, epoch := Diff(Tree{}, e.Tree()), time.Unix(int64(r.IntN(2)), 0)
		var layer bytes.Buffer
		must(t, WriteLayer(&layer, entries, epoch))
		outline := outlineOf(t, entries, epoch)
		if was, ok := outlines[layer.String()]; ok && was != outline {
			t.Fatalf("one layer, two outlines:\n%q\n%q", was, outline)
		}
		if was, ok := layers[outline]; ok && was != layer.String() {
			t.Fatalf("two layers, one outline: %q", outline)
		}
		outlines[layer.String()], layers[outline] = outline, layer.String()
	}
	if len(layers) < 50 || len(layers) == 400 {
		t.Errorf("%d different layers", len(layers))
	}
}

// Every header is in the outline as it is in the layer.
func TestOutlinesHaveTheHeadersOfTheLayer(t *testing.T) {
	tree := plant(t, "a/ 02750 1:2 @7", "a/file 0640 3:4 @9 +cap =content", "b ^a/file", "c ->"+strings.Repeat("long/", 60), "d |fifo", "e")
	entries := append(Diff(Tree{}, tree), Entry{Path: "/gone"}, Entry{Path: "/o", Opaque: true})
	var layer, outline bytes.Buffer
	must(t, WriteLayer(&layer, entries, time.Unix(5, 0)))
	must(t, Outline(&outline, entries, time.Unix(5, 0), func(w io.Writer, n *Node) error {
		_, err := w.Write(append([]byte(readAll(t, n)), make([]byte, 512-n.Size)...)) // one block each
		return err
	}))
	if want := layer.Bytes()[:layer.Len()-1024]; !bytes.Equal(outline.Bytes(), want) {
		t.Errorf("%d bytes, want %d", outline.Len(), len(want))
	}
}

// listedText shows entries, hard links among them, and what their files hold.
func listedText(t *testing.T, entries []Entry) string {
	t.Helper()
	var out strings.Builder
	first := map[*Node]string{}
	for _, x := range entries {
		fmt.Fprintf(&out, "%s %t", x.Path, x.Opaque)
		switch {
		case x.Node == nil:
		case first[x.Node] != "":
			out.WriteString(" ^" + first[x.Node])
		default:
			n := *x.Node
			n.ModTime = time.Time{} // the epoch, where the layer was written
			if len(n.Cap) == 0 {
				n.Cap = nil
			}
			fmt.Fprintf(&out, "%s %v", describeNode(t, &n), n.Mode.Type())
			if !n.IsDir() {
				first[x.Node] = x.Path
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func TestListedEntriesAreThoseThatReadingFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 300 {
		e := Tree{}.Edit()
		scribble(t, r, e, 6)
		lower := e.Tree()
		upper := lower.Edit()
		scribble(t, r, upper, 6)
		entries := Diff(lower, upper.Tree())
		var layer bytes.Buffer
		must(t, WriteLayer(&layer, entries, time.Time{}))
		stream := layer.Bytes()
		read, err := ReadLayer(bytes.NewReader(stream), func(off, size int64) Content { return Bytes(stream[off : off+size]) })
		must(t, err)
		listed, ok := Listed(entries, func(n *Node) Content { return n.Data })
		if got, want := listedText(t, listed), listedText(t, read); !ok || got != want {
			t.Fatalf("%d: listed %t\n%s\nread\n%s", i, ok, got, want)
		}
	}
}

func TestSocketsAreNotListed(t *testing.T) {
	listed, ok := Listed([]Entry{{Path: "/s", Node: &Node{Mode: fs.ModeSocket | 0o644}}}, nil)
	if !ok || len(listed) != 0 {
		t.Errorf("%t %v", ok, listed)
	}
}

// What a reader would take for something else has to be read.
func TestNamesThatMeanSomethingElseAreNotListed(t *testing.T) {
	file := &Node{Mode: 0o644}
	for _, x := range []Entry{
		{Path: "/a/.wh.b", Node: file},
		{Path: "/a/.wh..wh..opq", Node: file},
		{Path: "/" + strings.Repeat("n", 256), Node: file},
		{Path: strings.Repeat("/n", 2049), Node: file},
		{Path: "/a", Node: &Node{Mode: fs.ModeSymlink | 0o777, Link: strings.Repeat("n", 4097)}},
		{Path: "/a", Node: &Node{Mode: 0o644, Cap: make([]byte, 1025)}},
	} {
		if listed, ok := Listed([]Entry{{Path: "/0", Node: file}, x}, nil); ok {
			t.Errorf("%.40s: listed %d", x.Path, len(listed))
		}
	}
}
