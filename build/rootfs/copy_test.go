package rootfs

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"
)

// asCOPY sets what the Dockerfile front end sets for COPY of files.
func asCOPY(c CopySpec) CopySpec {
	c.FollowSymlink, c.DirContents, c.CreateDestPath = true, true, true
	c.Wildcard, c.AllowEmptyWildcard = true, true
	return c
}

func lines(s string) []string {
	var out []string
	for _, l := range strings.Split(s, ";") {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// matrix is the context of the documented COPY cases.
const matrix = "a.txt =A; b.txt =B; d/x =X; d/sub/y =Y"

func TestCopyBehavesAsBuildKit(t *testing.T) {
	for _, tc := range []struct {
		name, src, dst string // trees
		spec           CopySpec
		want, err      string
	}{
		{"into a missing directory", matrix, "", CopySpec{Src: "a.txt", Dest: "/x/"}, "x/; x/a.txt =A", ""},
		{"to a missing name", matrix, "", CopySpec{Src: "/a.txt", Dest: "/y"}, "y =A", ""},
		{"slash dot names a directory", matrix, "", CopySpec{Src: "a.txt", Dest: "/x/."}, "x/; x/a.txt =A", ""},
		{"root", matrix, "", CopySpec{Src: "a.txt", Dest: "/"}, "a.txt =A", ""},
		{"no destination", matrix, "", CopySpec{Src: "a.txt", Dest: ""}, "a.txt =A", ""},
		{"directory content", matrix, "", CopySpec{Src: "d", Dest: "/x"}, "x/; x/x =X; x/sub/; x/sub/y =Y", ""},
		{"directory content, slashes", matrix, "", CopySpec{Src: "d/", Dest: "/x/"}, "x/; x/x =X; x/sub/; x/sub/y =Y", ""},
		{"a glob flattens directories", matrix, "", CopySpec{Src: "d*", Dest: "/x/"}, "x/; x/x =X; x/sub/; x/sub/y =Y", ""},
		{"a glob flattens directories below", matrix, "", CopySpec{Src: "d/*", Dest: "/x/"}, "x/; x/x =X; x/y =Y", ""},
		{"file into a directory", matrix, "x/", CopySpec{Src: "a.txt", Dest: "/x"}, "x/; x/a.txt =A", ""},
		{"file over a file", matrix, "x =old", CopySpec{Src: "a.txt", Dest: "/x"}, "x =A", ""},
		{"directory over a file", matrix, "x", CopySpec{Src: "d", Dest: "/x"}, "", "cannot copy to non-directory"},
		{"whole context", matrix, "", CopySpec{Src: "/", Dest: "/all/"}, "all/; all/a.txt =A; all/b.txt =B; all/d/; all/d/x =X; all/d/sub/; all/d/sub/y =Y", ""},
		{"space in names", "sp\u00a0ace =S", "", CopySpec{Src: "sp\u00a0ace", Dest: "/s\u00a0p/"}, "s\u00a0p/; s\u00a0p/sp\u00a0ace =S", ""},
		{"dots stop at the root", matrix, "", CopySpec{Src: "../d/../a.txt", Dest: "/"}, "a.txt =A", ""},
		{"file over a directory below", "d/x =X", "t/x/", CopySpec{Src: "d", Dest: "/t"}, "", "cannot replace to directory /t/x with file"},
		{"directory over a link below", "d/x/y", "t/x ->z; t/z/", CopySpec{Src: "d", Dest: "/t"}, "", "cannot copy to non-directory: /t/x"},
		{"link replaced by file", "a =A", "t/a ->z; t/z =Z", CopySpec{Src: "a", Dest: "/t/"}, "t/; t/a =A; t/z =Z", ""},

		{"missing source", matrix, "", CopySpec{Src: "nope", Dest: "/"}, "", `"/nope": not found`},
		{"empty glob", matrix, "", CopySpec{Src: "*.nope", Dest: "/x/"}, "", ""},
		{"glob in a missing directory", matrix, "", CopySpec{Src: "bin/*", Dest: "/x/"}, "", "lstat /bin: no such file or directory"},
		{"glob in a file", matrix, "", CopySpec{Src: "a.txt/*", Dest: "/x/"}, "", ""},
		{"broken glob", matrix, "", CopySpec{Src: "a[", Dest: "/"}, "", "syntax error in pattern"},
		{"broken glob without a key", matrix, "", CopySpec{Src: "a[", Dest: "/", Unkeyed: true}, "", ""},
		{"escaped wildcard is literal", `a\*b =L`, "", CopySpec{Src: `a\*b`, Dest: "/x"}, "x =L", ""},

		{"named link to a file", "l ->a; a =A", "", CopySpec{Src: "l", Dest: "/x/"}, "x/; x/l =A", ""},
		{"named link to a directory", "l ->d; d/a =A", "", CopySpec{Src: "l", Dest: "/x"}, "x/; x/a =A", ""},
		{"absolute links stay inside", "l ->/d/a; d/a =A", "", CopySpec{Src: "l", Dest: "/x"}, "x =A", ""},
		{"links out are clamped", "d/l ->../../../a; a =A", "", CopySpec{Src: "d/l", Dest: "/x"}, "x =A", ""},
		{"dangling source", "l ->nope", "", CopySpec{Src: "l", Dest: "/x"}, "", `"/l": not found`},
		{"looping source", "l ->m; m ->l", "", CopySpec{Src: "l", Dest: "/x"}, "", "too many links"},
		{"links inside stay as written", "d/l ->/abs; d/m ->nope", "", CopySpec{Src: "d", Dest: "/x"}, "x/; x/l ->/abs; x/m ->nope", ""},
		{"a glob follows each match", "d/rel ->x; d/x =X; d/sl ->sub; d/sub/y =Y", "", CopySpec{Src: "d/*", Dest: "/x/"}, "x/; x/rel =X; x/x =X; x/y =Y", ""},
		{"a glob does not enter linked directories", "l ->d; d/x =X", "", CopySpec{Src: "*/x", Dest: "/t/"}, "t/; t/x =X", ""},
		{"parent links are resolved", "l ->d; d/x =X", "", CopySpec{Src: "l/x", Dest: "/t"}, "t =X", ""},
		{"unfollowed link", "l ->a; a =A", "", CopySpec{Src: "l", Dest: "/x", Unkeyed: true}, "x =A", ""},

		{"destination link to a directory", matrix, "l ->t; t/", CopySpec{Src: "a.txt", Dest: "/l"}, "l ->t; t/; t/a.txt =A", ""},
		{"destination link to a file", matrix, "l ->t; t =old", CopySpec{Src: "a.txt", Dest: "/l"}, "l ->t; t =A", ""},
		{"dangling destination", matrix, "dang ->/nowhere/x", CopySpec{Src: "a.txt", Dest: "/dang"}, "dang ->/nowhere/x; nowhere/; nowhere/x =A", ""},
		{"dangling destination directory", matrix, "dang ->/nowhere/x", CopySpec{Src: "a.txt", Dest: "/dang/"}, "dang ->/nowhere/x; nowhere/; nowhere/x/; nowhere/x/a.txt =A", ""},
		{"destination through a link", matrix, "l ->/usr/l", CopySpec{Src: "a.txt", Dest: "/l/b/c"}, "l ->/usr/l; usr/; usr/l/; usr/l/b/; usr/l/b/c =A", ""},
		{"destination through a file", matrix, "f", CopySpec{Src: "a.txt", Dest: "/f/x"}, "", "not a directory"},

		{"hard links inside a directory stay", "d/a =A; d/b ^d/a", "", CopySpec{Src: "d", Dest: "/x"}, "x/; x/a =A; x/b ^x/a", ""},
		{"hard links across matches are lost", "a =A; b ^a", "", CopySpec{Src: "*", Dest: "/"}, "a =A; b =A", ""},
		{"two copies of one file are two files", "d/a =A; d/b ^d/a", "o =O", CopySpec{Src: "d", Dest: "/"}, "a =A; b ^a; o =O", ""},
		{"special files", "d/p |fifo; d/c %5:1; d/b #8:1", "", CopySpec{Src: "d", Dest: "/"}, "p |fifo; c %5:1; b %8:1", ""},

		{"a new top directory has 0755", "d/ 0700 3:4 @9; d/s/ 0750 5:6 @8", "", CopySpec{Src: "d", Dest: "/x"}, "x/ @9; x/s/ 0750 5:6 @8", ""},
		{"a present top directory keeps mode and owner", "d/ 0700 3:4 @9; d/f", "x/ 02770 7:8 @1", CopySpec{Src: "d", Dest: "/x"}, "x/ 02770 7:8 @9; x/f", ""},
		{"sub-directories take the source's", "d/s/ 0700 3:4 @9", "x/s/ 0777 7:8 @1; x/s/old", CopySpec{Src: "d", Dest: "/x"}, "x/; x/s/ 0700 3:4 @9; x/s/old", ""},
		{"setgid parents", "a", "g/ 02755 0:7", CopySpec{Src: "a", Dest: "/g/p/q"}, "g/ 02755 0:7; g/p/ 02755 0:7; g/p/q", ""},
		{"setgid parents and an owner", "a", "g/ 02755 0:7", CopySpec{Src: "a", Dest: "/g/p/q", Owner: &Owner{1, 2}}, "g/ 02755 0:7; g/p/ 02755 1:2; g/p/q 1:2", ""},
		{"mode, time and capability are kept", "a 06755 3:4 @7 +cap =A", "", CopySpec{Src: "a", Dest: "/x", Owner: &Owner{9, 8}}, "x 06755 9:8 @7 +cap =A", ""},
		{"time for all", "d/f @1; d/s/ @2", "", CopySpec{Src: "d", Dest: "/p/q", Time: time.Unix(5, 0)}, "p/ @5; p/q/ @5; p/q/f @5; p/q/s/ @5", ""},

		{"chmod reaches parents", "a.txt =A", "", CopySpec{Src: "a.txt", Dest: "/p/q/x", Mode: "700"}, "p/ 0700; p/q/ 0700; p/q/x 0700 =A", ""},
		{"chmod without x reaches parents", "a.txt =A", "", CopySpec{Src: "a.txt", Dest: "/p/x", Mode: "0640"}, "p/ 0640; p/x 0640 =A", ""},
		{"special bits do not", "a.txt =A", "", CopySpec{Src: "a.txt", Dest: "/p/x", Mode: "4755"}, "p/; p/x 04755 =A", ""},
		{"symbolic mode", "d/f 0600; d/s/ 0700; d/x 0700", "", CopySpec{Src: "d", Dest: "/p", Mode: "u=rwX,go=rX"}, "p/; p/f; p/s/; p/x 0755", ""},
		{"symbolic mode is relative", "f 0644", "", CopySpec{Src: "f", Dest: "/f", Mode: "u+x,go-r"}, "f 0700", ""},
		{"links have no mode", "d/l ->x", "", CopySpec{Src: "d", Dest: "/", Mode: "600", Owner: &Owner{1, 1}}, "l 1:1 ->x", ""},
		{"from nothing", "", "", CopySpec{Src: "/", Dest: "/home/g", Mode: "777"}, "home/ 0777; home/g/ 0777", ""},
		{"bad mode", "f", "", CopySpec{Src: "f", Dest: "/f", Mode: "abc"}, "", `parse mode "abc": invalid syntax`},
		{"large mode", "f", "", CopySpec{Src: "f", Dest: "/f", Mode: "10000"}, "", "not between 0 and 07777"},

		{"exclude", "a.txt =A; b =B; d/c.txt; d/e", "", CopySpec{Src: "/", Dest: "/e/", Exclude: []string{"*.txt"}}, "e/; e/b =B; e/d/; e/d/c.txt; e/d/e", ""},
		{"exclude everywhere", "a.txt; d/c.txt; d/e", "", CopySpec{Src: "/", Dest: "/", Exclude: []string{"**/*.txt"}}, "d/; d/e", ""},
		{"exclude with an exception", "d/a; d/b", "", CopySpec{Src: "/", Dest: "/", Exclude: []string{"d", "!d/b"}}, "d/; d/b", ""},
		{"excluded directory", "d/a; e", "", CopySpec{Src: "/", Dest: "/", Exclude: []string{"d"}}, "e", ""},
		{"bad exclude", "d/a", "", CopySpec{Src: "/", Dest: "/", Exclude: []string{"["}}, "", "parse exclude patterns"},
		{"parents", "d/x =X; d/y; d/ 0700 1:2", "", CopySpec{Src: "/", Dest: "/p/", Include: []string{"d/x"}, RequiredPaths: []string{"/d/x"}}, "p/; p/d/ 0700 1:2; p/d/x =X", ""},
		{"parents of nothing", "d/x", "", CopySpec{Src: "/", Dest: "/p/", Include: []string{"d/n"}, RequiredPaths: []string{"/d/n"}}, "", `"/d/n": not found`},
		{"parents of nothing without a key", "d/x", "", CopySpec{Src: "/", Dest: "/p/", Include: []string{"d/n"}, RequiredPaths: []string{"/d/n"}, Unkeyed: true}, "p/", ""},
		{"parents with a wildcard", "a/1/c; a/2/d; b/1/c", "", CopySpec{Src: "/", Dest: "/", Include: []string{"a/*/c"}}, "a/; a/1/; a/1/c", ""},
		{"parents where a directory is", "d/x; d/ 0700 1:2 @3", "d/ 0755 5:5 @4", CopySpec{Src: "/", Dest: "/", Include: []string{"d/x"}}, "d/ 0700 5:5 @4; d/x", ""},
		{"parents where a file is", "d/s/x", "d", CopySpec{Src: "/", Dest: "/", Include: []string{"d/s/nope"}}, "", "not a directory"},
		{"dangling link at the top of a filtered root", "l ->nope; a", "", CopySpec{Src: "/", Dest: "/", Exclude: []string{"a"}}, "", `"/l": not found`},
		{"the same without a key", "l ->nope; a", "", CopySpec{Src: "/", Dest: "/", Exclude: []string{"a"}, Unkeyed: true}, "l ->nope", ""},
		{"the same further down", "d/l ->nope; a", "", CopySpec{Src: "/", Dest: "/", Exclude: []string{"a"}}, "d/; d/l ->nope", ""},
		{"whiteout names are files", "d/.wh.x =W", "x =X", CopySpec{Src: "d", Dest: "/"}, ".wh.x =W; x =X", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src, dst := plant(t, lines(tc.src)...), plant(t, lines(tc.dst)...)
			before := strings.Join(listing(t, dst), "\n")
			e := dst.Edit()
			err := Copy(t.Context(), e, src, asCOPY(tc.spec))
			if fails(t, err, tc.err); err == nil {
				holds(t, e.Tree(), lines(tc.want)...)
			}
			if now := strings.Join(listing(t, dst), "\n"); now != before {
				t.Errorf("the tree it began with became\n%s", now)
			}
		})
	}
}

// What a Dockerfile never sets, but the operation has.
func TestCopyWithoutTheFrontEndsDefaults(t *testing.T) {
	for _, tc := range []struct {
		name, src, dst string
		spec           CopySpec
		want, err      string
	}{
		{"a directory itself", "d/ 0700; d/x", "t/", CopySpec{Src: "d", Dest: "/t", CreateDestPath: true}, "t/; t/d/ 0700; t/d/x", ""},
		{"a directory to a new name", "d/ 0700 1:2; d/x", "", CopySpec{Src: "d", Dest: "/t", CreateDestPath: true}, "t/ 0700 1:2; t/x", ""},
		{"a link itself", "l ->a", "", CopySpec{Src: "l", Dest: "/t", CreateDestPath: true}, "t ->a", ""},
		{"a link itself, whatever follows", "l ->d; d/x", "", CopySpec{Src: "l/.", Dest: "/t", CreateDestPath: true}, "t ->d", ""},
		{"wildcards are names", "a* =A; ab", "", CopySpec{Src: "a*", Dest: "/t", CreateDestPath: true}, "t =A", ""},
		{"destination must be there", "a", "", CopySpec{Src: "a", Dest: "/t/x"}, "", "lstat /t"},
		{"destination is there", "a", "t/", CopySpec{Src: "a", Dest: "/t/x"}, "t/; t/x", ""},
		{"empty wildcard", "a", "", CopySpec{Src: "x*", Dest: "/", CreateDestPath: true, Wildcard: true}, "", `"/x*": not found`},
		{"replace a directory by a file", "a/x =X", "x/y", CopySpec{Src: "a", Dest: "/", CreateDestPath: true, DirContents: true, AlwaysReplace: true}, "x =X", ""},
		{"replace a link by a directory", "a/x/y", "x ->z", CopySpec{Src: "a", Dest: "/", CreateDestPath: true, DirContents: true, AlwaysReplace: true}, "x/; x/y", ""},
		{"directories merge all the same", "a/x/y", "x/z", CopySpec{Src: "a", Dest: "/", CreateDestPath: true, DirContents: true, AlwaysReplace: true}, "x/; x/y; x/z", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := plant(t, lines(tc.dst)...).Edit()
			err := Copy(t.Context(), e, plant(t, lines(tc.src)...), tc.spec)
			if fails(t, err, tc.err); err == nil {
				holds(t, e.Tree(), lines(tc.want)...)
			}
		})
	}
}

func TestCopyOfTheSameFileTwiceMakesNoHardLink(t *testing.T) {
	src := plant(t, "a =A")
	e := Tree{}.Edit()
	for _, dest := range []string{"/x", "/y"} {
		if err := Copy(t.Context(), e, src, asCOPY(CopySpec{Src: "a", Dest: dest})); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, e.Tree(), "x =A", "y =A")
}

func TestCopyOntoAHardLinkLeavesItsOtherNames(t *testing.T) {
	e := plant(t, "x =old", "y ^x").Edit()
	if err := Copy(t.Context(), e, plant(t, "a =A"), asCOPY(CopySpec{Src: "a", Dest: "/x"})); err != nil {
		t.Fatal(err)
	}
	holds(t, e.Tree(), "x =A", "y =old")
}

func TestCopyOfAMissingSourceIsErrNotExist(t *testing.T) {
	for _, src := range []string{"nope", "nope/*", "d/nope"} {
		err := Copy(t.Context(), Tree{}.Edit(), plant(t, "d/"), asCOPY(CopySpec{Src: src, Dest: "/"}))
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", src, err)
		}
	}
}

func TestMkdirAndWrite(t *testing.T) {
	at := time.Unix(7, 0)
	for _, tc := range []struct {
		name, dst string
		do        func(*Editor) error
		want, err string
	}{
		{"mkdir", "", func(e *Editor) error {
			return e.Mkdir(Mkdir{Path: "/a/b", Mode: 0o755, Parents: true, Owner: &Owner{5, 6}, Time: at})
		}, "a/ 5:6 @7; a/b/ 5:6 @7", ""},
		{"mkdir of what is there", "a/ 0700 1:1 @1", func(e *Editor) error {
			return e.Mkdir(Mkdir{Path: "/a", Mode: 0o755, Parents: true, Owner: &Owner{5, 6}, Time: at})
		}, "a/ 0700 1:1 @1", ""},
		{"mkdir through links", "a ->/x/y", func(e *Editor) error { return e.Mkdir(Mkdir{Path: "/a/b", Mode: 0o755, Parents: true}) }, "a ->/x/y; x/; x/y/; x/y/b/", ""},
		{"mkdir over a file", "a", func(e *Editor) error { return e.Mkdir(Mkdir{Path: "/a", Mode: 0o755, Parents: true}) }, "", "not a directory"},
		{"mkdir without parents", "", func(e *Editor) error { return e.Mkdir(Mkdir{Path: "/a/b", Mode: 0o755}) }, "", "mkdir /a/b: file does not exist"},
		{"mkdir without parents over a file", "a", func(e *Editor) error { return e.Mkdir(Mkdir{Path: "/a", Mode: 0o755}) }, "a", ""},
		{"write", "d/", func(e *Editor) error {
			return e.Write(Write{Path: "/d/f", Mode: 0o640, Data: []byte("W"), Owner: &Owner{5, 6}, Time: at})
		}, "d/; d/f 0640 5:6 @7 =W", ""},
		{"write below setgid", "d/ 02755 0:9", func(e *Editor) error { return e.Write(Write{Path: "/d/f", Mode: 0o644}) }, "d/ 02755 0:9; d/f 0:9", ""},
		{"write through a link", "l ->d/f; d/f =old", func(e *Editor) error { return e.Write(Write{Path: "l", Mode: 0o644, Data: []byte("W")}) }, "l ->d/f; d/; d/f =W", ""},
		{"write over a directory", "d/", func(e *Editor) error { return e.Write(Write{Path: "/d", Mode: 0o644}) }, "", "write /d: is a directory"},
		{"write without a directory", "", func(e *Editor) error { return e.Write(Write{Path: "/d/f", Mode: 0o644}) }, "", "write /d/f: file does not exist"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := plant(t, lines(tc.dst)...).Edit()
			err := tc.do(e)
			if fails(t, err, tc.err); err == nil {
				holds(t, e.Tree(), lines(tc.want)...)
			}
		})
	}
}
