package rootfs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestApply(t *testing.T) {
	sorted := func(lines ...string) []string {
		slices.SortFunc(lines, func(a, b string) int {
			a, _, _ = strings.Cut(a, " ")
			b, _, _ = strings.Cut(b, " ")
			return comparePaths(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
		})
		return lines
	}
	base := sorted("/bin -> usr/bin", "/hang -> no", "/d/ 700 1:2", "/d/f = 1", "/d/g/", "/d/g/h = 2", "/s/ 2770 0:9", "/usr/", "/usr/bin/ 711 4:5", "/z = 3")
	without := func(prefixes ...string) []string {
		return slices.DeleteFunc(slices.Clone(base), func(line string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(line, p) })
		})
	}
	file := func(line string) Entry { p, n := specNode(t, line); return Entry{Path: p, Node: n} }
	_, dir := specNode(t, "/x/ 711 3:3")
	for _, c := range []struct {
		name    string
		entries []Entry
		want    []string
	}{
		{"nothing", nil, base},
		{"a new file", []Entry{file("/d/new = x")}, sorted(append(without(), "/d/new = x")...)},
		{"missing parents", []Entry{file("/n/m/f = x")}, sorted(append(without(), "/n/", "/n/m/", "/n/m/f = x")...)},
		{
			"missing parents below setgid",
			[]Entry{file("/s/m/n/f = x")},
			sorted(append(without(), "/s/m/ 0:9", "/s/m/n/", "/s/m/n/f = x")...),
		},
		{"a directory keeps what is in it", []Entry{{Path: "/d", Node: dir}}, sorted(append(without("/d/ "), "/d/ 711 3:3")...)},
		{
			"an opaque directory does not",
			[]Entry{{Path: "/d", Node: dir, Opaque: true}, file("/d/k = x")},
			sorted(append(without("/d/"), "/d/ 711 3:3", "/d/k = x")...),
		},
		{
			"opaque comes first, wherever it stands",
			[]Entry{file("/d/k = x"), {Path: "/d", Node: dir, Opaque: true}},
			sorted(append(without("/d/"), "/d/ 711 3:3", "/d/k = x")...),
		},
		{"opaque without a header keeps attributes", []Entry{{Path: "/d", Opaque: true}}, without("/d/f", "/d/g")},
		{"opaque where nothing is", []Entry{{Path: "/n", Opaque: true}}, sorted(append(without(), "/n/")...)},
		{"opaque root", []Entry{{Path: "/", Opaque: true}, file("/only = x")}, []string{"/only = x"}},
		{"whiteout of a file", []Entry{{Path: "/d/f"}}, without("/d/f")},
		{"whiteout of a directory", []Entry{{Path: "/d"}}, without("/d")},
		{"whiteout of nothing", []Entry{{Path: "/no"}}, base},
		{"whiteout in a missing directory makes it", []Entry{{Path: "/n/x"}}, sorted(append(without(), "/n/")...)},
		{"a file replaces a directory", []Entry{file("/d = x")}, sorted(append(without("/d/"), "/d = x")...)},
		{"a link replaces a directory", []Entry{file("/d -> z")}, sorted(append(without("/d/"), "/d -> z")...)},
		{"a directory replaces a file", []Entry{{Path: "/z", Node: dir}}, sorted(append(without("/z"), "/z/ 711 3:3")...)},
		{
			"below a link: a directory in its place",
			[]Entry{file("/bin/sh = x")},
			sorted(append(without("/bin"), "/bin/ 711 4:5", "/bin/sh = x")...),
		},
		{
			"a dangling one too",
			[]Entry{file("/hang/sh = x")},
			sorted(append(without("/hang"), "/hang/", "/hang/sh = x")...),
		},
		{
			"what is implied below an opaque one keeps its attributes",
			[]Entry{{Path: "/d/g"}, {Path: "/", Opaque: true}},
			[]string{"/d/ 700 1:2"},
		},
		{"whiteout below a link as well", []Entry{{Path: "/bin/sh"}}, sorted(append(without("/bin"), "/bin/ 711 4:5")...)},
		{
			"below a file: a directory in its place",
			[]Entry{file("/z/f = x")},
			sorted(append(without("/z"), "/z/", "/z/f = x")...),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			lower := specTree(t, base...)
			before := fmt.Sprint(c.entries)
			got, err := lower.Apply(c.entries)
			must(t, err)
			specCheck(t, specText(t, got), c.want...)
			specCheck(t, specText(t, lower), base...)
			if fmt.Sprint(c.entries) != before {
				t.Error("Apply has changed its entries")
			}
		})
	}
}

func TestApplyIgnoresTheChildrenOfAnEntrysNode(t *testing.T) {
	full, err := specTree(t, "/d/", "/d/f = 1").Lstat("/d")
	must(t, err)
	got, err := Tree{}.Apply([]Entry{{Path: "/d", Node: full}})
	must(t, err)
	specCheck(t, specText(t, got), "/d/")
}

func TestApplyRefusesAnOpaqueFile(t *testing.T) {
	if _, err := (Tree{}).Apply([]Entry{{Path: "/f", Node: &Node{}, Opaque: true}}); err == nil {
		t.Error("no error")
	}
}

// A base has 20,000 entries, many of them in one directory: what is done for
// each must not grow with what is there.
func TestApplyCopiesEachDirectoryOnce(t *testing.T) {
	var entries []Entry
	for i := range 20000 {
		entries = append(entries, Entry{Path: fmt.Sprintf("/big/f%05d", i), Node: &Node{}})
	}
	lower, err := Tree{}.Apply(entries)
	must(t, err)
	copies := testing.AllocsPerRun(1, func() {
		if _, err := lower.Apply(entries); err != nil {
			t.Error(err)
		}
	})
	if perEntry := copies / 20000; perEntry > 3 {
		t.Errorf("%.1f allocations for each entry", perEntry)
	}
}
