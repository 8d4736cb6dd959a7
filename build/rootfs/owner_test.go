package rootfs

import (
	"io"
	"strings"
	"testing"
)

func accounts(t testing.TB, passwd, group string) Tree {
	t.Helper()
	e := Tree{}.Edit()
	if err := e.MkdirAll("/etc", 0o755, nil); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"passwd": passwd, "group": group} {
		if err := e.Write(Write{Path: "/etc/" + name, Data: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	return e.Tree()
}

func TestLookup(t *testing.T) {
	some := accounts(t, "root:x:0:0::/:\n\n bob:x:100:200::/:\nbob:x:1:1::/:\nodd:x:nan\n", "# grp:x:1:\ngrp:x:300:bob\n")
	for _, tc := range []struct {
		name        string
		tree        Tree
		user, group string
		want        Owner
		found       bool
		gid         int
		gfound      bool
		err         string
	}{
		{"user and primary group, first entry", some, "bob", "grp", Owner{100, 200}, true, 300, true, ""},
		{"unknown names are no error", some, "alice", "nosuch", Owner{}, false, 0, false, ""},
		{"broken numbers are 0", some, "odd", "grp", Owner{}, true, 300, true, ""},
		{"numbers are not special", some, "100", "300", Owner{}, false, 0, false, ""},
		{"no files", plant(t, "etc/"), "bob", "grp", Owner{}, false, 0, false, ""},
		{"nothing", Tree{}, "bob", "grp", Owner{}, false, 0, false, ""},
		{"etc is a file", plant(t, "etc"), "bob", "grp", Owner{}, false, 0, false, ""},
		{"dangling link", plant(t, "etc/passwd ->nope", "etc/group ->nope"), "bob", "grp", Owner{}, false, 0, false, ""},
		{"links are followed inside", plant(t, "etc ->/usr/e", "usr/e/passwd ->../../p", "usr/e/group ->/g", "p =bob:x:5:6", "g =grp:x:7:"), "bob", "grp", Owner{5, 6}, true, 7, true, ""},
		{"a directory", plant(t, "etc/passwd/", "etc/group/"), "bob", "grp", Owner{}, false, 0, false, "not a regular file"},
		{"a loop", plant(t, "etc/passwd ->passwd", "etc/group ->group"), "bob", "grp", Owner{}, false, 0, false, "too many links"},
		{"too large", huge(t), "bob", "grp", Owner{}, false, 0, false, "exceeds 10485760 bytes"},
		{"a line that never ends", accounts(t, strings.Repeat("x", 2<<20), strings.Repeat("x", 2<<20)), "bob", "grp", Owner{}, false, 0, false, "token too long"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, found, err := LookupUser(tc.tree, tc.user)
			if fails(t, err, tc.err); o != tc.want || found != tc.found {
				t.Errorf("user %v %v, want %v %v", o, found, tc.want, tc.found)
			}
			gid, found, err := LookupGroup(tc.tree, tc.group)
			if fails(t, err, tc.err); gid != tc.gid || found != tc.gfound {
				t.Errorf("group %v %v, want %v %v", gid, found, tc.gid, tc.gfound)
			}
		})
	}
}

// endless is a file of empty lines.
type endless struct{}

func (endless) Open() (io.ReadCloser, error) { return io.NopCloser(endless{}), nil }

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

func huge(t testing.TB) Tree {
	t.Helper()
	e := plant(t, "etc/").Edit()
	for _, p := range []string{"/etc/passwd", "/etc/group"} {
		if err := e.Put(p, &Node{Size: 1 << 40, Data: endless{}}); err != nil {
			t.Fatal(err)
		}
	}
	return e.Tree()
}
