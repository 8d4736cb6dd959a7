package rootfs

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNoEntriesGiveBuildKitsEmptyLayer(t *testing.T) {
	layer := writeLayer(t, Diff(Tree{}, Tree{}))
	const want = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
	if sum := fmt.Sprintf("%x", sha256.Sum256(layer)); len(layer) != 1024 || sum != want {
		t.Errorf("%d bytes, diff ID %s", len(layer), sum)
	}
}

// tarText shows the headers of a layer.
func tarText(t *testing.T, layer []byte) string {
	t.Helper()
	var out strings.Builder
	r := tar.NewReader(bytes.NewReader(layer))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		must(t, err)
		content, err := io.ReadAll(r)
		must(t, err)
		fmt.Fprintf(&out, "%c %s %04o %d:%d @%d %s", h.Typeflag, h.Name, h.Mode, h.Uid, h.Gid, h.ModTime.Unix(), h.Format)
		if h.Linkname != "" {
			fmt.Fprintf(&out, " -> %s", h.Linkname)
		}
		if h.Devmajor+h.Devminor > 0 {
			fmt.Fprintf(&out, " %d,%d", h.Devmajor, h.Devminor)
		}
		for _, k := range slices.Sorted(func(yield func(string) bool) {
			for k := range h.PAXRecords {
				if !yield(k) {
					return
				}
			}
		}) {
			fmt.Fprintf(&out, " %s=%q", k, h.PAXRecords[k])
		}
		if len(content) > 0 {
			fmt.Fprintf(&out, " = %s", content)
		}
		if h.Uname+h.Gname != "" {
			out.WriteString(" has user names")
		}
		out.WriteByte('\n')
	}
}

func TestWriteLayer(t *testing.T) {
	long := strings.Repeat("n", 200)
	at := func(sec, nsec int64) time.Time { return time.Unix(sec, nsec) }
	shared := &Node{Mode: 0o640, UID: 1, Data: Bytes("shared"), Size: 6, Cap: []byte{1, 0, 2}}
	link := &Node{Mode: fs.ModeSymlink | 0o777, Link: "../x"}
	entries := []Entry{
		{Path: "/z", Node: shared}, // out of order, so that sorting shows
		{Path: "/d", Node: &Node{Mode: fs.ModeDir | fs.ModeSticky | 0o777}, Opaque: true},
		{Path: "/d/b", Node: shared},
		{Path: "/d/gone"},
		{Path: "/d/sub", Opaque: true},
		{Path: "/gone"},
		{Path: "/bits", Node: &Node{Mode: fs.ModeSetuid | fs.ModeSetgid | 0o755, ModTime: at(5, 999999999)}},
		{Path: "/old", Node: &Node{Mode: 0o644, ModTime: at(-7, 0)}},
		{Path: "/big", Node: &Node{Mode: 0o644, UID: 4294967294}},
		{Path: "/" + long, Node: &Node{Mode: 0o644}},
		{Path: "/ä", Node: &Node{Mode: 0o644}},
		{Path: "/dev", Node: &Node{Mode: fs.ModeDevice | fs.ModeCharDevice | 0o600, Major: 1, Minor: 3, Data: Bytes("no"), Size: 2}},
		{Path: "/blk", Node: &Node{Mode: fs.ModeDevice | 0o600, Major: 8}},
		{Path: "/fifo", Node: &Node{Mode: fs.ModeNamedPipe | 0o600}},
		{Path: "/sock", Node: &Node{Mode: fs.ModeSocket | 0o600}},
		{Path: "/l", Node: link},
		{Path: "/m", Node: link},
	}
	const capability = `SCHILY.xattr.security.capability="\x01\x00\x02"`
	specCheck(t, tarText(t, writeLayer(t, entries)),
		"0 big 0644 4294967294:0 @0 PAX uid=\"4294967294\"",
		"0 bits 6755 0:0 @5 USTAR",
		"4 blk 0600 0:0 @0 USTAR 8,0",
		"5 d/ 1777 0:0 @0 USTAR",
		"0 d/.wh..wh..opq 0000 0:0 @0 USTAR",
		"0 d/b 0640 1:0 @0 PAX "+capability+" = shared",
		"0 d/.wh.gone 0000 0:0 @0 USTAR",
		"0 d/sub/.wh..wh..opq 0000 0:0 @0 USTAR",
		"3 dev 0600 0:0 @0 USTAR 1,3",
		"6 fifo 0600 0:0 @0 USTAR",
		"0 .wh.gone 0000 0:0 @0 USTAR",
		"2 l 0777 0:0 @0 USTAR -> ../x",
		"1 m 0777 0:0 @0 USTAR -> l",
		"0 "+long+" 0644 0:0 @0 PAX path=\""+long+"\"",
		"0 old 0644 0:0 @0 USTAR",
		"1 z 0640 1:0 @0 PAX -> d/b "+capability,
		"0 ä 0644 0:0 @0 PAX path=\"ä\"",
	)
}

func TestEpochIsForNodesWithoutATime(t *testing.T) {
	var b bytes.Buffer
	entries := []Entry{
		{Path: "/a", Node: &Node{}},
		{Path: "/b", Node: &Node{ModTime: time.Unix(7, 0)}},
		{Path: "/c"},
		{Path: "/d", Node: &Node{ModTime: time.Unix(0, 0)}},
	}
	must(t, WriteLayer(&b, entries, time.Unix(99, 5)))
	specCheck(t, tarText(t, b.Bytes()),
		"0 a 0000 0:0 @99 USTAR", "0 b 0000 0:0 @7 USTAR", "0 .wh.c 0000 0:0 @0 USTAR", "0 d 0000 0:0 @0 USTAR")
}

func TestWriteLayerHasTheSameBytesWhateverTheOrderAndZone(t *testing.T) {
	tree := specTree(t, "/a/", "/a/f = 1", "/a/g == /a/f", "/b -> a", "/c 4755 1:1 = x")
	entries := Diff(Tree{}, tree)
	want := writeLayer(t, entries)
	entries = slices.Clone(entries)
	slices.Reverse(entries)
	for i, x := range entries {
		if x.Path == "/c" {
			n := *x.Node
			n.ModTime = time.Unix(0, 0).In(time.FixedZone("x", 3600))
			entries[i].Node = &n
		}
	}
	if !bytes.Equal(writeLayer(t, entries), want) {
		t.Error("bytes differ")
	}
}

// badContent fails at one of its three chances.
type badContent struct {
	text             string
	open, end, close error
}

func (c badContent) Open() (io.ReadCloser, error) {
	r := io.Reader(strings.NewReader(c.text))
	if c.end != nil {
		r = io.MultiReader(r, failing{c.end})
	}
	return closer{r, c.close}, c.open
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type closer struct {
	io.Reader
	err error
}

func (c closer) Close() error { return c.err }

func TestWriteLayerFailsWhereContentIsNotWhatItsNodeSays(t *testing.T) {
	bad := errors.New("bad")
	for _, c := range []struct {
		name string
		size int64
		data Content
		want string
	}{
		{"shorter", 4, Bytes("abc"), "write /d/f: content ends after 3 of 4 bytes"},
		{"longer", 2, Bytes("abc"), "write /d/f: content is longer than 2 bytes"},
		{"empty but longer", 0, Bytes("abc"), "write /d/f: content is longer than 0 bytes"},
		{"none", 3, nil, "write /d/f: content ends after 0 of 3 bytes"},
		{"open fails", 3, badContent{open: bad}, "write /d/f: bad"},
		{"read fails", 3, badContent{text: "ab", end: bad}, "write /d/f: bad"},
		{"the end fails", 3, badContent{text: "abc", end: bad}, "write /d/f: bad"},
		{"close fails", 3, badContent{text: "abc", close: bad}, "write /d/f: bad"},
	} {
		e := []Entry{{Path: "/d/f", Node: &Node{Size: c.size, Data: c.data}}}
		if err := WriteLayer(io.Discard, e, time.Time{}); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if err := WriteLayer(io.Discard, []Entry{{Path: "/"}}, time.Time{}); err == nil {
		t.Error("a whiteout of the root was written")
	}
}
