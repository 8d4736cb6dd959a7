package parity

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// dump is the tree in one line per path.
func (t Tree) dump() string {
	var b strings.Builder
	links := t.links()
	for _, at := range slices.Sorted(maps.Keys(t)) {
		n := t[at]
		fmt.Fprintf(&b, "%s %s %04o %d:%d", at, n.Type, n.Mode, n.UID, n.GID)
		if n.Link != "" {
			b.WriteString(" -> " + n.Link)
		}
		if links[at] != "" {
			b.WriteString(" = " + links[at])
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestApplyFollowsTheLayerSpecification(t *testing.T) {
	const root = "/ dir 0755 0:0\n"
	for _, c := range []struct {
		name   string
		layers []string
		want   string
	}{
		{
			"parents that are not listed are made",
			[]string{"file a/b/c 0600 1:2"},
			root + "/a dir 0755 0:0\n/a/b dir 0755 0:0\n/a/b/c file 0600 1:2\n",
		},
		{"the root can be listed", []string{"dir ./ 0700 3:4\nfile ./a"}, "/ dir 0700 3:4\n/a file 0644 0:0\n"},
		{"names are cleaned", []string{"file a/../../b"}, root + "/b file 0644 0:0\n"},
		{"a whiteout hides a file", []string{"file a\nfile b", `file .wh.a text=""`}, root + "/b file 0644 0:0\n"},
		{
			"a whiteout hides a directory",
			[]string{"file d/a\nfile d2/b", `file .wh.d text=""`},
			root + "/d2 dir 0755 0:0\n/d2/b file 0644 0:0\n",
		},
		{"a whiteout hides nothing of its own layer", []string{"file a", "file a 0600\n" + `file .wh.a text=""`}, root + "/a file 0600 0:0\n"},
		{
			"an opaque directory hides what is below it",
			[]string{"file d/a\nfile e", "file d/b 0600\n" + `file d/.wh..wh..opq text=""`},
			root + "/d dir 0755 0:0\n/d/b file 0600 0:0\n/e file 0644 0:0\n",
		},
		{
			"a directory keeps its content",
			[]string{"dir d\nfile d/a", "dir d 0700 1:1"},
			root + "/d dir 0700 1:1\n/d/a file 0644 0:0\n",
		},
		{"a file replaces a directory", []string{"file d/a", "file d"}, root + "/d file 0644 0:0\n"},
		{"a directory replaces a file", []string{"file d", "dir d"}, root + "/d dir 0755 0:0\n"},
		{"a link replaces a directory", []string{"file d/a", "sym d to=x"}, root + "/d sym 0777 0:0 -> x\n"},
		{
			"a link on the way becomes a directory",
			[]string{"file usr/lib/a\nsym lib to=usr/lib", "file lib/b"},
			root + "/lib dir 0755 0:0\n/lib/b file 0644 0:0\n/usr dir 0755 0:0\n/usr/lib dir 0755 0:0\n/usr/lib/a file 0644 0:0\n",
		},
		{
			"a hard link's header counts for the file",
			[]string{"file a 0644 1:1\nhard b 0600 2:2 to=a"},
			root + "/a file 0600 2:2 = /a /b\n/b file 0600 2:2 = /a /b\n",
		},
		{
			"a new file breaks a hard link",
			[]string{"file a\nhard b to=a", "file a 0600"},
			root + "/a file 0600 0:0\n/b file 0644 0:0\n",
		},
		{
			"names that begin alike are other names",
			[]string{"file ab/c\nfile a/c", `file .wh.a text=""`},
			root + "/ab dir 0755 0:0\n/ab/c file 0644 0:0\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := NewTree()
			for _, l := range c.layers {
				data, err := tarOf(specLines(l))
				if err != nil {
					t.Fatal(err)
				}
				if err := tree.Apply(data); err != nil {
					t.Fatal(err)
				}
			}
			if got := tree.dump(); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestApplyRefusesWhatNoRuntimeUnpacks(t *testing.T) {
	for _, layers := range [][]string{{"file a", "hard b to=a"}, {"hard b to=nope"}, {"dir d\nhard b to=d"}} {
		tree, err := NewTree(), error(nil)
		for _, l := range layers {
			data, tarErr := tarOf(specLines(l))
			if tarErr != nil {
				t.Fatal(tarErr)
			}
			err = tree.Apply(data)
		}
		if err == nil {
			t.Errorf("%q is applied", layers)
		}
	}
	if err := NewTree().Apply([]byte("no archive, but longer than nothing")); err == nil {
		t.Error("what is no archive is applied")
	}
}
