package rootfs

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"
	"time"
)

// scribble edits at random. The names are few, so that files, directories and
// links replace one another often.
func scribble(t *testing.T, r *rand.Rand, e *Editor, edits int) {
	names := []string{"a", "b", "b.c", "c"}
	somewhere := func() string {
		p := ""
		for range 1 + r.IntN(3) {
			p += "/" + names[r.IntN(len(names))]
		}
		return p
	}
	var mine []string // files that this editor has made
	for i := range edits {
		p := somewhere()
		n := &Node{
			Mode: fs.FileMode(r.IntN(0o1000)), UID: r.IntN(2), GID: r.IntN(3),
			ModTime: time.Unix(int64(r.IntN(3)), int64(r.IntN(2))),
		}
		switch r.IntN(9) {
		case 0:
			n.Mode = fs.ModeSymlink | 0o777
			n.Link = somewhere()
		case 1:
			n.Mode |= fs.ModeDir | special
		case 2:
			_ = e.MkdirAll(p, 0o755, &Owner{1, 1}) // a file may be in the way
			continue
		case 3:
			_ = e.Remove(p) // may not be there
			continue
		case 4:
			if old, err := e.Change(p); err == nil {
				old.GID = 10 + i
			}
			continue
		case 5:
			if len(mine) == 0 {
				continue
			}
			old, err := e.Change(mine[r.IntN(len(mine))])
			if err != nil || !old.Mode.IsRegular() {
				continue
			}
			old.UID = 10 + i
			n = old
		case 6:
			n.Mode |= fs.ModeDevice
			n.Major = int64(i)
		default:
			data := fmt.Sprintf("%d %s", i, p)
			n.Data, n.Size = Bytes(data), int64(len(data))
			n.Cap = make([]byte, r.IntN(3))
		}
		if e.Put(p, n) == nil && n.Mode.IsRegular() {
			mine = append(mine, p)
		}
	}
}

// The layer between two trees, written, read and applied, gives the second.
func TestALayerLaidOverTheLowerTreeGivesTheUpper(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		e := Tree{}.Edit()
		scribble(t, r, e, 60)
		lower := e.Tree()
		before := specText(t, lower)
		scribble(t, r, e, 1+r.IntN(40))
		upper := e.Tree()

		entries := Diff(lower, upper)
		layer := writeLayer(t, entries)
		want := specText(t, upper)
		for name, list := range map[string][]Entry{"as they are": entries, "written and read": readLayer(t, layer), "from an index": viaIndex(t, layer)} {
			got, err := lower.Apply(list)
			must(t, err)
			if text := specText(t, got); text != want {
				t.Fatalf("seed %d, entries %s:\n%s\napplied to\n%s\ngave\n%s\nnot\n%s", seed, name, specEntries(t, list), before, text, want)
			}
		}
		if specText(t, lower) != before {
			t.Fatalf("seed %d: the lower tree changed", seed)
		}
		if again := writeLayer(t, readLayer(t, layer)); !bytes.Equal(again, layer) {
			t.Fatalf("seed %d: a layer that is read and written again differs:\n%s\n%s", seed, tarText(t, layer), tarText(t, again))
		}
		if again := Diff(upper, upper); len(again) > 0 {
			t.Fatalf("seed %d: a tree differs from itself: %v", seed, again)
		}
	}
}

func viaIndex(t *testing.T, layer []byte) []Entry {
	t.Helper()
	entries, err := ReadLayer(bytes.NewReader(layer), nil)
	must(t, err)
	index, err := EncodeIndex(entries)
	must(t, err)
	entries, err = DecodeIndex(index)
	must(t, err)
	return Bind(entries, within(layer))
}
