package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Changes are what the edits of findings make of files.
type Changes struct {
	Files map[string][]byte // new content of every file that changes, by Edit.File
	Left  []Finding         // not applied: another finding before changes the same place in another way
}

// Apply carries out the Edits of findings; findings without are passed over. A
// finding's edits are applied together or not at all. What several findings ask
// for alike, as those of one file's images do, is done once. read gives the
// content that the findings were made from.
func Apply(findings []Finding, read func(file string) ([]byte, error)) (Changes, error) {
	c := Changes{Files: map[string][]byte{}}
	var all []Edit
	for _, f := range findings {
		if slices.ContainsFunc(f.Edits, func(e Edit) bool { return !fits(all, e) }) {
			c.Left = append(c.Left, f)
			continue
		}
		all = addEdits(all, f.Edits...)
	}
	slices.SortStableFunc(all, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(e Edit) bool { return e.File != all[0].File })
		if n < 0 {
			n = len(all)
		}
		data, err := read(all[0].File)
		if err != nil {
			return c, err
		}
		if c.Files[all[0].File], err = splice(data, all[:n]); err != nil {
			return c, err
		}
		all = all[n:]
	}
	return c, nil
}

// fits reports whether an edit leaves others alone: it is among them, or changes
// other bytes. Several insertions at one place come after each other.
func fits(list []Edit, e Edit) bool {
	return !slices.ContainsFunc(list, func(o Edit) bool {
		return o != e && o.File == e.File && o.Start < e.End && e.Start < o.End
	})
}

// splice is data after edits that are sorted and do not overlap.
func splice(data []byte, edits []Edit) ([]byte, error) {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(data) {
			return nil, fmt.Errorf("edit %s: bytes %d to %d are not in the file", e.File, e.Start, e.End)
		}
		b.Write(data[at:e.Start])
		b.WriteString(e.New)
		at = e.End
	}
	b.Write(data[at:])
	return []byte(b.String()), nil
}
