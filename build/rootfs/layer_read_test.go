package rootfs

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadLayer(t *testing.T) {
	owned := func(h tar.Header, mode int64, uid, gid int) tar.Header {
		h.Mode, h.Uid, h.Gid = mode, uid, gid
		return h
	}
	xattrs := func(h tar.Header, pairs ...string) tar.Header {
		h.PAXRecords = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			h.PAXRecords["SCHILY.xattr."+pairs[i]] = pairs[i+1]
		}
		return h
	}
	type in = []tar.Header
	for _, c := range []struct {
		name  string
		layer in
		want  []string
	}{
		{"nothing", nil, nil},
		{
			"sorted",
			in{tarFile("b", "1"), tarDir("a/"), tarFile("a/x", "2"), tarFile("a.b", "3")},
			[]string{"/a/", "/a/x = 2", "/a.b = 3", "/b = 1"},
		},
		{
			"names are cleaned",
			in{tarFile("./x", "1"), tarFile("/y", "2"), tarFile("../../z", "3"), tarFile("a/../w", "4")},
			[]string{"/w = 4", "/x = 1", "/y = 2", "/z = 3"},
		},
		{"the root is left out", in{owned(tarDir("./"), 0o700, 1, 1), tarDir("/"), tarDir(".")}, nil},
		{"the last header wins", in{tarFile("x", "1"), tarFile("x", "22")}, []string{"/x = 22"}},
		{
			"a directory's last header wins and keeps what is in it",
			in{tarDir("d"), tarFile("d/x", "1"), owned(tarDir("d"), 0o700, 1, 2)},
			[]string{"/d/ 700 1:2", "/d/x = 1"},
		},
		{"a file over a directory", in{tarDir("d"), tarFile("d/x", "1"), tarFile("d", "2")}, []string{"/d = 2"}},
		{"implied directories are not listed", in{tarFile("a/b/c", "1")}, []string{"/a/b/c = 1"}},
		{"listed after they were implied", in{tarFile("a/b/c", "1"), tarDir("a/")}, []string{"/a/", "/a/b/c = 1"}},
		{"special bits", in{owned(tarFile("x", ""), 0o6755, 1, 2), owned(tarDir("t"), 0o1777, 0, 0)}, []string{"/t/ 1777", "/x 6755 1:2"}},
		{"type bits in the mode mean nothing", in{owned(tarFile("x", "1"), 0o040755, 0, 0)}, []string{"/x 755 = 1"}},
		{
			"devices and pipes",
			in{{Name: "c", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}, {Name: "b", Typeflag: tar.TypeBlock, Devmajor: 8}, {Name: "p", Typeflag: tar.TypeFifo}},
			[]string{"/b (D--------- 8,0)", "/c (Dc--------- 1,3)", "/p (p--------- 0,0)"},
		},
		{
			"only one extended attribute",
			in{xattrs(tarFile("x", "1"), "security.capability", "\x01\x00", "user.x", "y", "security.selinux", "z")},
			[]string{"/x cap=0100 = 1"},
		},
		{
			"times",
			in{{Name: "x", Typeflag: tar.TypeReg, ModTime: time.Unix(77, 0)}, {Name: "y", Typeflag: tar.TypeReg, ModTime: time.Unix(-77, 0)}},
			[]string{"/x @77", "/y"},
		},

		{
			"whiteouts",
			in{tarFile(".wh.x", ""), tarFile("d/.wh.y", ""), tarFile(".wh..wh.z", "")},
			[]string{"whiteout /.wh.z", "whiteout /d/y", "whiteout /x"},
		},
		{
			"a whiteout does not hide this layer's file",
			in{tarFile("x", "1"), tarFile(".wh.x", ""), tarFile(".wh.y", ""), tarFile("y", "2")},
			[]string{"/x = 1", "/y = 2"},
		},
		{"but what is below its directory", in{tarDir("x"), tarFile("x/f", "1"), tarFile(".wh.x", "")}, []string{"/x/ opaque", "/x/f = 1"}},
		{"a directory after its whiteout takes it back, as on overlayfs", in{tarFile(".wh.x", ""), tarDir("x"), tarFile("x/f", "1")}, []string{"/x/", "/x/f = 1"}},
		{"also below an implied one", in{tarFile(".wh.x", ""), tarFile("x/f", "1")}, []string{"/x/ implied opaque", "/x/f = 1"}},
		{"a whiteout below what became a file", in{tarFile("d/.wh.x", ""), tarFile("d", "1")}, []string{"/d = 1"}},
		{"opaque", in{tarDir("d"), tarFile("d/f", "1"), tarFile("d/.wh..wh..opq", "")}, []string{"/d/ opaque", "/d/f = 1"}},
		{"opaque and implied", in{tarFile("d/e/.wh..wh..opq", "")}, []string{"/d/e/ implied opaque"}},
		{"opaque root", in{tarFile(".wh..wh..opq", ""), tarFile("f", "1")}, []string{"// implied opaque", "/f = 1"}},

		{
			"a link of this layer is followed",
			in{tarDir("usr/lib"), tarSymlink("lib", "usr/lib"), tarFile("lib/x", "1"), tarFile("lib/.wh.y", "")},
			[]string{"/lib -> usr/lib", "/usr/lib/", "/usr/lib/x = 1", "whiteout /usr/lib/y"},
		},
		{"as a dangling one is, inside the root", in{tarSymlink("l", "/../../a/b"), tarFile("l/x", "1")}, []string{"/a/b/x = 1", "/l -> /../../a/b"}},
		{"a link that comes later is not", in{tarFile("lib/x", "1"), tarSymlink("lib", "usr/lib")}, []string{"/lib -> usr/lib"}},
		{"nor the link itself", in{tarSymlink("l", "d"), tarFile("d", "1"), tarFile("l", "2")}, []string{"/d = 1", "/l = 2"}},

		{"hard link", in{tarFile("a", "1"), tarLink("b", "a"), tarLink("c", "/b")}, []string{"/a = 1", "/b == /a", "/c == /a"}},
		{
			"the link's header sets the inode's attributes",
			in{owned(tarFile("a", "1"), 0o600, 1, 1), owned(tarLink("b", "./a"), 0o4711, 2, 3)},
			[]string{"/a 4711 2:3 = 1", "/b == /a"},
		},
		{"its capability too", in{xattrs(tarFile("a", "1"), "security.capability", "\x01"), tarLink("b", "a")}, []string{"/a = 1", "/b == /a"}},
		{"hard link to a symbolic one", in{tarSymlink("a", "x"), owned(tarLink("b", "a"), 0o600, 5, 0)}, []string{"/a 5:0 -> x", "/b == /a"}},
		{
			"hard link through a symbolic one",
			in{tarDir("d"), tarFile("d/f", "1"), tarSymlink("l", "d"), tarLink("b", "l/f")},
			[]string{"/b = 1", "/d/", "/d/f == /b", "/l -> d"},
		},
		{"a replaced target keeps its other names", in{tarFile("a", "1"), tarLink("b", "a"), tarFile("a", "2")}, []string{"/a = 2", "/b = 1"}},
		{"global headers are skipped", in{{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			specCheck(t, specEntries(t, readLayer(t, rawTar(t, c.layer...))), c.want...)
		})
	}
}

func TestReadLayerRefuses(t *testing.T) {
	deep := strings.Repeat("d/", 2047)
	loop := []tar.Header{tarSymlink("l", "l"), tarFile("l/x", "")}
	for _, c := range []struct {
		name  string
		layer []tar.Header
		want  string
	}{
		{"hard link below", []tar.Header{tarLink("b", "usr/bin/a")}, `entry "b": hard link to "usr/bin/a", which is not in this layer`},
		{"hard link ahead", []tar.Header{tarLink("b", "a"), tarFile("a", "1")}, "not in this layer"},
		{"hard link to itself", []tar.Header{tarFile("a", "1"), tarLink("a", "a")}, "not in this layer"},
		{"hard link to what it replaces", []tar.Header{tarFile("d/f", "1"), tarLink("d", "d/f")}, "not in this layer"},
		{"hard link to a directory", []tar.Header{tarDir("d"), tarLink("x", "d")}, "hard link to the directory"},
		{"below a file", []tar.Header{tarFile("f", "1"), tarFile("f/x", "2")}, `entry "f/x": mkdir /f: not a directory`},
		{"a loop", loop, "too many links"},
		{"empty link", []tar.Header{tarSymlink("l", "")}, "symbolic link to nothing"},
		{"whiteout of nothing", []tar.Header{tarFile("d/.wh.", "")}, "whiteout of nothing"},
		{"whiteout of a parent", []tar.Header{tarFile("d/.wh...", "")}, "whiteout of nothing"},
		{"long part", []tar.Header{tarFile(strings.Repeat("n", 256), "")}, "longer than 255 bytes"},
		{"long name", []tar.Header{tarFile(deep+"abc", "")}, "longer than 4096 bytes"},
		{"long link", []tar.Header{tarSymlink("l", deep+"abc")}, "longer than 4096 bytes"},
		{"long directory behind links", []tar.Header{tarSymlink("l", deep), tarFile("l/"+deep[:200]+"x", "")}, "longer than 4096 bytes"},
		{"long capability", []tar.Header{{Name: "x", Typeflag: tar.TypeReg, PAXRecords: map[string]string{capability: deep}}}, "longer than 1024 bytes"},
		{"owner", []tar.Header{{Name: "x", Typeflag: tar.TypeReg, Uid: 1<<32 - 1}}, "owner 4294967295:0 out of range"},
		{"unknown type", []tar.Header{{Name: "x", Typeflag: tar.TypeCont}}, "unhandled tar header type '7'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			layer := rawTar(t, c.layer...)
			_, err := ReadLayer(bytes.NewReader(layer), within(layer))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestReadLayerNamesWhereADamagedArchiveEnds(t *testing.T) {
	layer := rawTar(t, tarFile("first", "1"), tarFile("second", strings.Repeat("x", 2000)))
	_, err := ReadLayer(bytes.NewReader(layer[:3*512+100]), nil)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), `"second"`) {
		t.Errorf("cut in the content: %v", err)
	}
	layer[2*512] ^= 1
	if _, err := ReadLayer(bytes.NewReader(layer), nil); !errors.Is(err, tar.ErrHeader) || !strings.Contains(err.Error(), `"first"`) {
		t.Errorf("bad checksum: %v", err)
	}
}

func TestReadLayerReadsToTheEnd(t *testing.T) {
	layer := rawTar(t, tarFile("f", "1"))
	bad := errors.New("digest does not match")
	in := io.MultiReader(bytes.NewReader(layer), bytes.NewReader(make([]byte, 4096)), failing{bad})
	if _, err := ReadLayer(in, nil); !errors.Is(err, bad) {
		t.Errorf("what a verifying reader says at the end is lost: %v", err)
	}
}

func TestOffsetsAreThoseOfTheUncompressedLayer(t *testing.T) {
	long := strings.Repeat("n", 150) // makes a PAX header come first
	layer := rawTar(t, tarDir("d"), tarFile("d/"+long, "one"), tarFile("empty", ""), tarFile("two", strings.Repeat("2", 600)), tarFile("three", "333"))
	// bytes.Reader can seek, a decompressor cannot: both must give the same.
	for name, in := range map[string]io.Reader{"seekable": bytes.NewReader(layer), "stream": bytes.NewBuffer(layer)} {
		got := ""
		_, err := ReadLayer(in, func(off, size int64) Content {
			got += fmt.Sprintf("%.3s ", layer[off:off+size])
			return nil
		})
		must(t, err)
		if want := "one 222 333 "; got != want {
			t.Errorf("%s: sections hold %q, want %q", name, got, want)
		}
	}
}

// sparseLayer is a file of 512 KiB of which one byte is stored, in PAX form
// 0.1: the writer of archive/tar does not make these, so a key is patched.
func sparseLayer(t testing.TB) []byte {
	h := tarFile("sparse", "x")
	h.PAXRecords = map[string]string{
		"ZNU.sparse.map": "0,1", "ZNU.sparse.numblocks": "1", "ZNU.sparse.size": "524288",
		"ZNU.sparse.major": "0", "ZNU.sparse.minor": "1",
	}
	return bytes.ReplaceAll(rawTar(t, h, tarFile("z", "after")), []byte("ZNU."), []byte("GNU."))
}

func TestSparseFilesAreKnownButNotRead(t *testing.T) {
	layer := sparseLayer(t)
	tree, err := Tree{}.Apply(readLayer(t, layer))
	must(t, err)
	n, err := tree.Lstat("/sparse")
	must(t, err)
	if n.Size != 524288 {
		t.Errorf("size %d", n.Size)
	}
	if _, err := tree.Open("/sparse"); err == nil || !strings.Contains(err.Error(), "sparse") {
		t.Errorf("Open = %v", err)
	}
	n, err = tree.Lstat("/z")
	must(t, err)
	if got := contentOf(t, n); got != "after" {
		t.Errorf("the file after it reads %q", got)
	}
}

func FuzzReadLayer(f *testing.F) {
	f.Add(sparseLayer(f))
	f.Add(rawTar(f, tarDir("d"), tarFile("d/f", "1"), tarLink("l", "d/f"), tarSymlink("s", "d"), tarFile("s/g", "2"), tarFile(".wh.x", ""), tarFile("d/.wh..wh..opq", "")))
	f.Add(rawTar(f, tarFile(strings.Repeat("n/", 150)+"x", "1"), tar.Header{Name: "x", Typeflag: tar.TypeReg, PAXRecords: map[string]string{capability: "\x01\x00"}}))
	f.Add(make([]byte, 1024))
	f.Fuzz(func(t *testing.T, layer []byte) {
		fuzzLayer(t, layer)
		fuzzLayer(t, summed(layer))
	})
}

// summed gives every block a header's checksum, which no mutation hits.
func summed(layer []byte) []byte {
	layer = bytes.Clone(layer)
	for block := range slices.Chunk(layer, 512) {
		if len(block) < 512 || block[0] == 0 {
			continue
		}
		copy(block[148:156], "        ")
		sum := 0
		for _, b := range block {
			sum += int(b)
		}
		copy(block[148:156], fmt.Sprintf("%06o\x00 ", sum))
	}
	return layer
}

func fuzzLayer(t *testing.T, layer []byte) {
	t.Helper()
	entries, err := ReadLayer(bytes.NewReader(layer), nil)
	if err != nil {
		return
	}
	for _, x := range entries {
		if x.Path != clean(x.Path) {
			t.Errorf("path %q is not clean", x.Path)
		}
		if x.Node == nil {
			continue
		}
		if s, ok := x.Node.Data.(*Section); ok && s.Off >= 0 && (s.Size != x.Node.Size || s.Off+s.Size > int64(len(layer))) {
			t.Errorf("%s: section %+v of %d bytes", x.Path, s, len(layer))
		}
	}
	checkIndex(t, entries)
	tree, err := Tree{}.Apply(entries)
	must(t, err)
	// What containerd would make of it, written again, is the same tree.
	again := Diff(Tree{}, tree)
	back, err := Tree{}.Apply(again)
	must(t, err)
	if got := Diff(tree, back); len(got) > 0 {
		t.Errorf("applied again: %d differences, first %s", len(got), got[0].Path)
	}
}
