package rootfs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// pack makes a tar of lines in plant's form. Here ^ is a hard link by the name
// that the header has, and names and modes are as written.
func pack(t testing.TB, lines ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, line := range lines {
		h, data := tarHeader(t, line)
		err := w.WriteHeader(h)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func tarHeader(t testing.TB, line string) (*tar.Header, []byte) {
	t.Helper()
	if line == "global" {
		return &tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax/global", PAXRecords: map[string]string{"comment": "c"}}, nil
	}
	name, rest, _ := strings.Cut(line, " ")
	hard := ""
	if before, target, ok := strings.Cut(rest, "^"); ok {
		rest, hard = before, target
	}
	_, n := parseLine(t, nil, strings.TrimSpace(name+" "+rest))
	h := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: tarMode(n.Mode), Uid: n.UID, Gid: n.GID, ModTime: n.ModTime, Linkname: n.Link, Devmajor: n.Major, Devminor: n.Minor}
	switch {
	case hard != "":
		h.Typeflag, h.Linkname = tar.TypeLink, hard
	case n.IsDir():
		h.Typeflag = tar.TypeDir
	case n.IsLink():
		h.Typeflag = tar.TypeSymlink
	case strings.Contains(rest, "|"):
		h.Typeflag = tar.TypeFifo
	case strings.Contains(rest, "%"):
		h.Typeflag = tar.TypeChar
	case strings.Contains(rest, "#"):
		h.Typeflag = tar.TypeBlock
	}
	if n.Cap != nil {
		h.PAXRecords = map[string]string{capability: string(n.Cap)}
	}
	if h.Typeflag != tar.TypeReg {
		return h, nil
	}
	data := []byte(readAll(t, n))
	h.Size = int64(len(data))
	return h, data
}

// add runs ADD of one file with that content.
func add(t testing.TB, e *Editor, data []byte, c CopySpec) error {
	t.Helper()
	src := Tree{}.Edit()
	if err := src.Write(Write{Path: "/t", Mode: 0o644, Data: data}); err != nil {
		t.Fatal(err)
	}
	if c.Spool == nil {
		c.Spool = &Spool{Dir: t.TempDir()}
	}
	t.Cleanup(func() { c.Spool.Close() })
	c = asCOPY(c)
	c.Src, c.Unpack = "/t", true
	if c.Dest == "" {
		c.Dest = "/"
	}
	return Copy(context.Background(), e, src.Tree(), c)
}

func TestAddUnpacksAsBuildKit(t *testing.T) {
	for _, tc := range []struct {
		name, archive, dst string
		spec               CopySpec
		want, err          string
	}{
		{
			"everything that a tar can hold", "d/ 0750 1:2 @3; d/f 0640 4:5 @6 =F; d/l 7:8 @9 ->f; d/h 0640 4:5 @6 ^d/f; p @1 |; c @1 %5:1; b @1 #8:1", "",
			CopySpec{},
			"d/ 0750 1:2 @3; d/f 0640 4:5 @6 =F; d/h ^d/f; d/l 7:8 @9 ->f; p @1 |fifo; c @1 %5:1; b @1 #8:1", "",
		},
		{"special bits", "f 06711 1:1 @1", "", CopySpec{}, "f 06711 1:1 @1", ""},
		{"capability", "f 0755 @1 +cap", "", CopySpec{}, "f 0755 @1 +cap", ""},
		{"capability survives a new owner", "f 0755 @1 +cap", "", CopySpec{Owner: &Owner{1, 2}}, "f 0755 1:2 @1 +cap", ""},
		{"destination is made", "f @1", "", CopySpec{Dest: "/a/b"}, "a/; a/b/; a/b/f @1", ""},
		{"destination is a link", "f @1", "l ->/x/y", CopySpec{Dest: "/l"}, "l ->/x/y; x/; x/y/; x/y/f @1", ""},
		{"destination is a file", "f @1", "x", CopySpec{Dest: "/x"}, "", "not a directory"},
		{
			"chown hits every entry and the destination", "d/ 5:6 @1; d/f 5:6 @1; d/l 5:6 @1 ->f; e/g 5:6 @1", "",
			CopySpec{Dest: "/x", Owner: &Owner{1, 2}},
			"x/ 1:2; x/d/ 1:2 @1; x/d/f 1:2 @1; x/d/l 1:2 @1 ->f; x/e/; x/e/g 1:2 @1", "",
		},
		{"chmod hits neither", "f 0640 @1", "", CopySpec{Dest: "/x", Mode: "777"}, "x/; x/f 0640 @1", ""},
		{"implied directories", "a/b/f @1", "g/ 02770 0:9", CopySpec{Dest: "/g"}, "g/ 02770 0:9; g/a/ 02755; g/a/b/ 02755; g/a/b/f @1", ""},
		{"times before 1970", "f @-5", "", CopySpec{}, "f @0", ""},
		{"a global header", "global; f @1", "", CopySpec{}, "f @1", ""},
		{"whiteout names are files", "d/.wh.x @1", "d/x", CopySpec{}, "d/; d/x; d/.wh.x @1", ""},
		{"names are clamped", "../../f @1; /g @1; a/../../h @1", "", CopySpec{Dest: "/x"}, "x/; x/f @1; x/g @1; x/h @1", ""},

		{"dot does not change what is there", "./ 0700 5:6 @1; ./f @1", "x/ 0711 1:1 @2", CopySpec{Dest: "/x"}, "x/ 0711 1:1 @2; x/f @1", ""},
		{"dot-dot does", "../ 0700 5:6 @1", "x/ 0711 1:1 @2", CopySpec{Dest: "/x"}, "x/ 0700 5:6 @1", ""},
		{"directory over a directory", "d/ 0700 5:6 @1", "d/ 0711 1:1 @2; d/f", CopySpec{}, "d/ 0700 5:6 @1; d/f", ""},
		{"file over a directory", "d 0600 @1", "d/f", CopySpec{}, "d 0600 @1", ""},
		{"directory over a file", "d/ @1; d/f @1", "d", CopySpec{}, "d/ @1; d/f @1", ""},
		{"directory over a link", "d/ @1; d/f @1", "d ->e; e/", CopySpec{}, "d/ @1; d/f @1; e/", ""},
		{"file over a link", "l @1", "l ->e; e", CopySpec{}, "l @1; e", ""},
		{"the last of a name wins", "f @1 =a; f @2 =b", "", CopySpec{}, "f @2 =b", ""},
		{"over a link on its own way", "l @1 ->/; l/l @2", "", CopySpec{}, "", "no such file or directory"},
		{"over the destination itself", "../ ->x", "x/", CopySpec{Dest: "/x"}, "", "remove /"},

		{"links of the base are followed inside", "lib/z @1", "lib ->usr/lib; usr/lib/", CopySpec{}, "lib ->usr/lib; usr/; usr/lib/; usr/lib/z @1", ""},
		{"absolute ones begin at the destination", "l/z @1", "x/l ->/d; x/d/; d/", CopySpec{Dest: "/x"}, "x/; x/l ->/d; x/d/; x/d/z @1; d/", ""},
		{"also below", "e/l/z @1", "x/e/l ->/d; x/d/", CopySpec{Dest: "/x"}, "x/; x/e/; x/e/l ->/d; x/d/; x/d/z @1", ""},
		{"and end there", "l/z @1", "x/l ->../../d; x/d/; d/", CopySpec{Dest: "/x"}, "x/; x/l ->../../d; x/d/; x/d/z @1; d/", ""},
		{"links of the archive are followed too", "l @1 ->/etc; etc/ @2; l/f @1; etc/ @3", "etc/", CopySpec{Dest: "/x"}, "x/; x/l @1 ->/etc; x/etc/ @3; x/etc/f @1; etc/", ""},
		{"a dangling parent", "l/z @1", "l ->nope", CopySpec{}, "", "no such file or directory"},
		{"a dangling grandparent", "l/y/z @1", "l ->nope", CopySpec{}, "", "file already exists"},
		{"a file for a parent", "f/z @1", "f", CopySpec{}, "", "not a directory"},
		{"a looping parent", "l/z @1", "l ->m; m ->l", CopySpec{}, "", "too many levels"},

		{"hard link to what was there", "b 0600 1:2 @3 ^a", "a 04755 @9 +cap =A", CopySpec{}, "a 0600 1:2 @3 =A; b ^a", ""},
		{"it leaves the other names behind", "c 0600 1:2 @3 ^a", "a =A; b ^a", CopySpec{}, "a 0600 1:2 @3 =A; b =A; c ^a", ""},
		{"all names in one archive are one file", "a @1 =A; b @1 ^a; c 0600 @2 ^b", "", CopySpec{}, "a 0600 @2 =A; b ^a; c ^a", ""},
		{"hard link to a link", "l @1 ->x; m 0600 1:1 @5 ^l", "", CopySpec{}, "l 1:1 @1 ->x; m ^l", ""},
		{"hard link through a link", "d/f @1 =F; l @1 ->d; h @1 ^l/f", "", CopySpec{}, "d/; d/f @1 =F; l @1 ->d; h ^d/f", ""},
		{"hard link to nothing", "h ^nope", "", CopySpec{}, "", "link /nope: no such file or directory"},
		{"hard link to a directory", "d/; h ^d", "", CopySpec{}, "", "operation not permitted"},
		{"hard link to itself", "h ^h", "h", CopySpec{}, "", "link /h: no such file"},

		{"a directory that became a link", "e/ @6; d/ @5; d @7 ->e", "", CopySpec{}, "d @7 ->e; e/ @5", ""},
		{"a directory that became a dangling link", "d/ @5; d @7 ->e", "", CopySpec{}, "", "chtimes /d"},
		{"overlayfs's own device", "c %0:0", "", CopySpec{}, "", "operation not permitted"},
		{"a long name", strings.Repeat("n", 256) + " @1", "", CopySpec{}, "", "file name too long"},
		{"a long path", strings.Repeat("n/", 2048) + "n @1", "", CopySpec{}, "", "file name too long"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := plant(t, lines(tc.dst)...).Edit()
			err := add(t, e, pack(t, lines(tc.archive)...), tc.spec)
			if fails(t, err, tc.err); err == nil {
				holds(t, e.Tree(), lines(tc.want)...)
			}
		})
	}
}

func gz(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&buf)
		if _, err := w.Write(p); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

func zst(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	out := []byte("\x5a\x2a\x4d\x18\x04\x00\x00\x00skip") // a frame to skip
	for _, p := range parts {
		out = w.EncodeAll(p, out)
	}
	return out
}

// The fixtures were made by GNU tar, bzip2 and xz: f holds "hi", sp a hole of
// 100 KiB and "tail"; two.* are two streams, cut inside the archive.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "unpack", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAddDetectsArchivesByContent(t *testing.T) {
	one := pack(t, "f @7 =hi")
	headless := slices.Concat(bytes.Repeat([]byte{0}, 1024), one)
	const isFile = "t"
	for _, tc := range []struct {
		name string
		data []byte
		want string // of the tree, or isFile
	}{
		{"plain", one, "f @7 =hi"},
		{"without an end", one[:1024], "f @7 =hi"},
		{"concatenated: the first only", slices.Concat(one, pack(t, "g =hi")), "f @7 =hi"},
		{"garbage behind the end", append(slices.Clone(one), "garbage"...), "f @7 =hi"},
		{"gzip", gz(t, one), "f @7 =hi"},
		{"gzip, members", gz(t, one[:700], one[700:]), "f @7 =hi"},
		{"gzip, zeros behind", append(gz(t, one), make([]byte, 999)...), "f @7 =hi"},
		{"zstd, frames", zst(t, one[:700], one[700:]), "f @7 =hi"},
		{"bzip2", fixture(t, "one.tar.bz2"), "f @7 =hi"},
		{"bzip2, streams", fixture(t, "two.tar.bz2"), "f @7 =hi"},
		{"xz without check", fixture(t, "none.tar.xz"), "f @7 =hi"},
		{"xz, crc32", fixture(t, "crc32.tar.xz"), "f @7 =hi"},
		{"xz, crc64", fixture(t, "crc64.tar.xz"), "f @7 =hi"},
		{"xz, sha256", fixture(t, "sha256.tar.xz"), "f @7 =hi"},
		{"xz, streams", fixture(t, "two.tar.xz"), "f @7 =hi"},
		{"xz, BCJ", fixture(t, "bcj.tar.xz"), "f @7 =hi"},
		{"v7", fixture(t, "v7.tar.xz"), "f @7 =hi"},
		{"GNU long names", fixture(t, "gnu-long.tar.xz"), strings.Repeat("n", 120) + " @7 =hi"},
		{"PAX sparse", fixture(t, "pax-sparse.tar.xz"), "sp @7 =" + string(make([]byte, 100<<10)) + "tail"},

		{"lzma alone", fixture(t, "alone.tar.lzma"), isFile},
		{"empty", nil, isFile},
		{"text", []byte("hello"), isFile},
		{"zero blocks", make([]byte, 10240), isFile},
		{"zero blocks before", headless, isFile},
		{"gzip of no tar", gz(t, []byte("hello")), isFile},
		{"gzip, cut in its header", gz(t, one)[:7], isFile},
		{"gzip, cut in the first header", gz(t, one)[:30], isFile},
		{"zstd of no tar", zst(t, []byte("hello")), isFile},
		{"bzip2 by magic alone", []byte("BZh91AY&SY"), isFile},
		{"xz by magic alone", []byte("\xfd7zXZ\x00aaaaaaaaaaaa"), isFile},
		{"bad checksum", slices.Concat([]byte("x"), one[1:]), isFile},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := Tree{}.Edit()
			if err := add(t, e, tc.data, CopySpec{}); err != nil {
				t.Fatal(err)
			}
			if tc.want == isFile {
				n, err := e.Lstat("/t")
				if err != nil || n.Size != int64(len(tc.data)) {
					t.Errorf("not copied as a file: %v %v", n, err)
				}
				return
			}
			holds(t, e.Tree(), tc.want)
		})
	}
}

func TestAddOfDamagedArchivesIsAnError(t *testing.T) {
	big := pack(t, "a =A", "b ="+strings.Repeat("noise-17", 500), "c =C")
	odd := pack(t, "f")
	odd[156] = '7' // contiguous file
	resum(odd)
	for _, tc := range []struct {
		name, err string
		data      []byte
	}{
		{"cut", "unexpected EOF", big[:2000]},
		{"cut gzip", "unexpected EOF", short(gz(t, big), 30)},
		{"cut zstd", "unexpected EOF", short(zst(t, big[:2000], big[2000:]), 9)},
		{"damaged in the middle", "invalid tar header", slices.Concat(big[:1024], bytes.Repeat([]byte{7}, 512), big[1536:])},
		{"GNU sparse", "unhandled tar header type 83", fixture(t, "gnu-sparse.tar.xz")},
		{"contiguous", "unhandled tar header type 55", odd},
		{"no link", "symlink /l: no such file", badLink(t)},
		{"bad capability", "invalid argument", badCap(t)},
	} {
		t.Run(tc.name, func(t *testing.T) { fails(t, add(t, Tree{}.Edit(), tc.data, CopySpec{}), tc.err) })
	}
}

func short(data []byte, by int) []byte { return data[:len(data)-by] }

// resum writes a changed header's checksum.
func resum(header []byte) {
	copy(header[148:156], "        ")
	sum := 0
	for _, b := range header[:512] {
		sum += int(b)
	}
	copy(header[148:156], fmt.Sprintf("%06o\x00 ", sum))
}

func badLink(t testing.TB) []byte {
	data := pack(t, "l ->x")
	data[157] = 0
	resum(data)
	return data
}

func badCap(t testing.TB) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	if err := w.WriteHeader(&tar.Header{Name: "f", PAXRecords: map[string]string{capability: "nonsense"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestParseCap(t *testing.T) {
	v3 := append(slices.Clone(someCap), 0, 0, 0, 0)
	v3[3] = 3
	foreign := slices.Clone(v3)
	foreign[20] = 9
	for _, tc := range []struct {
		name     string
		in, want []byte
	}{
		{"second revision", someCap, someCap},
		{"third, for root, reads as second", slices.Clone(v3), someCap},
		{"third, for another", foreign, foreign},
		{"first", []byte("\x00\x00\x00\x01\x00\x04\x00\x00\x00\x00\x00\x00"), nil},
		{"short", someCap[:19], nil},
		{"empty", nil, nil},
	} {
		got, err := parseCap(tc.in)
		if !bytes.Equal(got, tc.want) || (err == nil) != (tc.want != nil) {
			t.Errorf("%s: %x, %v, want %x", tc.name, got, err, tc.want)
		}
	}
}

func TestAddIsBounded(t *testing.T) {
	zeros := strings.Repeat("0", 4000)
	for _, tc := range []struct {
		name   string
		limits Limits
		data   []byte
		err    string
	}{
		{"entries", Limits{Entries: 2}, pack(t, "a", "b", "c"), "more than 2 entries"},
		{"entries are enough", Limits{Entries: 3}, pack(t, "a", "b", "c"), ""},
		{"implied directories", Limits{Entries: 3}, pack(t, "a/b/c/d"), "more than 3 entries"},
		{"bytes", Limits{Bytes: 3000}, pack(t, "a ="+zeros), "more than 3000 bytes"},
		{"bytes of holes", Limits{Bytes: 50000}, fixture(t, "pax-sparse.tar.xz"), "more than 50000 bytes"},
		{"bytes before the first header", Limits{Bytes: 100}, gz(t, pack(t, "a")), "more than 100 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := add(t, Tree{}.Edit(), tc.data, CopySpec{Spool: &Spool{Dir: t.TempDir(), Limits: tc.limits}})
			fails(t, err, tc.err)
			var limit *LimitError
			if tc.err != "" && (!errors.As(err, &limit) || limit.Hint() == "") {
				t.Errorf("%v is no LimitError with a hint", err)
			}
		})
	}
}

func TestBombsEnd(t *testing.T) {
	m := &meter{limits: Limits{}.orDefaults(), in: 1 << 20}
	sum := int64(ratioFrom)
	read := m.count(bytes.NewReader(make([]byte, 64)), &sum)
	_, err := read.Read(make([]byte, 64))
	fails(t, err, "1073741888 bytes out of 1048576 compressed ones")
	m.in = 2 << 20
	sum = ratioFrom
	_, err = m.count(bytes.NewReader(make([]byte, 64)), &sum).Read(make([]byte, 64))
	fails(t, err, "")
}

func TestAddNeedsNoArchiveAndKeepsLinks(t *testing.T) {
	src := plant(t, "f =F", "d/x =X", "l ->t")
	spool := &Spool{Dir: t.TempDir()}
	defer spool.Close()
	e := Tree{}.Edit()
	for _, s := range []string{"f", "d"} {
		c := asCOPY(CopySpec{Src: s, Dest: "/o/", Unpack: true, Spool: spool})
		if err := Copy(t.Context(), e, src, c); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, e.Tree(), "o/", "o/f =F", "o/x =X")
	err := Copy(t.Context(), e, src, asCOPY(CopySpec{Src: "l", Dest: "/", Unpack: true, Spool: spool}))
	fails(t, err, `"/l": not found`)
}

func TestAddFollowsALinkToAnArchive(t *testing.T) {
	src := plant(t, "l ->d/t").Edit()
	if err := src.Mkdir(Mkdir{Path: "/d", Mode: 0o755}); err != nil {
		t.Fatal(err)
	}
	if err := src.Write(Write{Path: "/d/t", Data: pack(t, "f @1 =F")}); err != nil {
		t.Fatal(err)
	}
	spool := &Spool{Dir: t.TempDir()}
	defer spool.Close()
	e := Tree{}.Edit()
	if err := Copy(t.Context(), e, src.Tree(), asCOPY(CopySpec{Src: "l", Dest: "/", Unpack: true, Spool: spool})); err != nil {
		t.Fatal(err)
	}
	holds(t, e.Tree(), "f @1 =F")
}

func TestSpoolLeavesNothingBehind(t *testing.T) {
	spool := &Spool{Dir: t.TempDir()}
	e := Tree{}.Edit()
	if err := add(t, e, pack(t, "a =A", "b =BB", "c"), CopySpec{Spool: spool}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(spool.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("spool holds %v, %v", left, err)
	}
	n, _ := e.Lstat("/b")
	for range 2 {
		if got := readAll(t, n); got != "BB" {
			t.Errorf("content %q", got)
		}
	}
	if err := spool.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := n.open(); err == nil {
		if _, err := r.Read(make([]byte, 1)); err == nil {
			t.Error("content can be read after Close")
		}
	}
}

// broken is a file of a disk that fails.
type broken struct{}

func (broken) Open() (io.ReadCloser, error) { return io.NopCloser(broken{}), nil }

func (broken) Read([]byte) (int, error) { return 0, syscall.EIO }

func TestAddOfAnUnreadableFileIsNotACopy(t *testing.T) {
	src := Tree{}.Edit()
	if err := src.Put("/t", &Node{Mode: 0o644, Size: 5, Data: broken{}}); err != nil {
		t.Fatal(err)
	}
	c := asCOPY(CopySpec{Src: "/t", Dest: "/", Unpack: true, Spool: &Spool{Dir: t.TempDir()}})
	defer c.Spool.Close()
	if err := Copy(t.Context(), Tree{}.Edit(), src.Tree(), c); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
}

func TestAddStopsWhenCancelled(t *testing.T) {
	src := Tree{}.Edit()
	if err := src.Write(Write{Path: "/t", Data: pack(t, "a")}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := asCOPY(CopySpec{Src: "/t", Dest: "/", Unpack: true, Spool: &Spool{Dir: t.TempDir()}})
	defer c.Spool.Close()
	if err := Copy(ctx, Tree{}.Edit(), src.Tree(), c); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// FuzzAdd: whatever is added, an archive or not, ends in a tree that can be
// listed and read, or in an error, within bounds.
func FuzzAdd(f *testing.F) {
	one := pack(f, "d/ 0750 1:2 @3", "d/f =F", "l ->d", "l/g @4 =G", "h ^l/g", "a/b/c +cap", "../x", "p |")
	for _, seed := range [][]byte{one, gz(f, one), zst(f, one), fixture(f, "one.tar.bz2"), fixture(f, "bcj.tar.xz"), fixture(f, "two.tar.xz"), fixture(f, "sha256.tar.xz"), fixture(f, "gnu-long.tar.xz"), fixture(f, "pax-sparse.tar.xz")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		base := plant(t, "l ->/d", "d/", "a ->nope", "p/q/r =R")
		before := strings.Join(listing(t, base), "\n")
		spool := &Spool{Dir: t.TempDir(), Limits: Limits{Entries: 50, Bytes: 1 << 20}}
		defer spool.Close()
		e := base.Edit()
		if err := add(t, e, data, CopySpec{Dest: "/p", Spool: spool}); err == nil {
			listing(t, e.Tree())
		}
		if now := strings.Join(listing(t, base), "\n"); now != before {
			t.Errorf("the tree it began with became\n%s", now)
		}
		// Nothing outside the destination may change.
		after := e.Tree().Edit()
		_ = after.Remove("/p")
		holds(t, after.Tree(), "l ->/d", "d/", "a ->nope")
	})
}
