package rootfs

import (
	"bytes"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"
)

// checkIndex encodes and decodes entries whose contents are sections.
func checkIndex(t *testing.T, entries []Entry) {
	t.Helper()
	index, err := EncodeIndex(entries)
	must(t, err)
	got, err := DecodeIndex(index)
	must(t, err)
	if len(got) != len(entries) {
		t.Fatalf("%d entries became %d", len(entries), len(got))
	}
	first := map[*Node]int{} // which entry a node was met in first, on both sides
	for i := range got {
		if a, b := entries[i], got[i]; a.Path != b.Path || a.Opaque != b.Opaque || !reflect.DeepEqual(a.Node, b.Node) {
			t.Fatalf("entry %d: %+v became %+v", i, a, b)
		}
		for _, n := range []*Node{entries[i].Node, got[i].Node} {
			if _, ok := first[n]; !ok {
				first[n] = i
			}
		}
		if first[entries[i].Node] != first[got[i].Node] {
			t.Fatalf("%s is a hard link in one only", got[i].Path)
		}
	}
}

func indexLayer(t testing.TB) []byte {
	h := tarFile("d/cap", "capable")
	h.PAXRecords = map[string]string{capability: "\x01\x00\x02"}
	h.ModTime = time.Unix(1234567890, 500)
	return rawTar(t, tarDir("d"), tarFile("d/f", "one"), tarLink("d/g", "d/f"), tarSymlink("s", "d"), h,
		tarFile(".wh.gone", ""), tarFile("e/.wh..wh..opq", ""), tarFile("empty", ""),
		tarFile("ä"+strings.Repeat("n", 200), "long"))
}

func TestIndexKeepsEverything(t *testing.T) {
	entries, err := ReadLayer(bytes.NewReader(indexLayer(t)), nil)
	must(t, err)
	checkIndex(t, entries)
	checkIndex(t, nil)
	checkIndex(t, []Entry{
		{Path: "/big", Node: &Node{Mode: fs.ModeDevice | fs.ModeCharDevice | fs.ModeSetuid | 0o7, UID: maxID, GID: maxID, Major: 1 << 40, Minor: 1 << 41}},
		{Path: "/zero", Node: &Node{}},
	})
}

func TestAnIndexThatIsBoundReadsTheLayer(t *testing.T) {
	layer := indexLayer(t)
	entries, err := ReadLayer(bytes.NewReader(layer), nil)
	must(t, err)
	if _, err := entries[len(entries)-1].Node.open(); err == nil {
		t.Error("a section opened before Bind")
	}
	index, err := EncodeIndex(entries)
	must(t, err)
	decoded, err := DecodeIndex(index)
	must(t, err)
	bound := Bind(decoded, within(layer))
	specCheck(t, specEntries(t, bound), strings.Split(strings.TrimSpace(specEntries(t, readLayer(t, layer))), "\n")...)
	if _, ok := decoded[1].Node.Data.(*Section); !ok {
		t.Error("Bind has changed its argument")
	}
}

func TestEncodeIndexRefusesOtherContents(t *testing.T) {
	if _, err := EncodeIndex([]Entry{{Path: "/f", Node: &Node{Data: Bytes("x"), Size: 1}}}); err == nil {
		t.Error("no error")
	}
}

func TestDecodeIndexRefusesWhatIsCut(t *testing.T) {
	entries, err := ReadLayer(bytes.NewReader(indexLayer(t)), nil)
	must(t, err)
	index, err := EncodeIndex(entries)
	must(t, err)
	for i := range index {
		if _, err := DecodeIndex(index[:i]); err == nil {
			t.Fatalf("cut to %d bytes, and no error", i)
		}
	}
}

// Whoever can write the cache can also make its checksum; it must not panic or
// take memory beyond the bounds.
func TestDecodeIndexRefusesWhatNoLayerHas(t *testing.T) {
	for name, body := range map[string]string{
		"count":                "\xff\xff\xff\x7f",
		"huge count":           "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"nothing":              "",
		"entry missing":        "\x01",
		"path not clean":       "\x01\x00\x03/..\x00",
		"path not absolute":    "\x01\x00\x01a\x00",
		"out of order":         "\x02\x00\x02/b\x00\x00\x02/a\x00",
		"twice":                "\x02\x00\x02/b\x00\x00\x02/b\x00",
		"link to itself":       "\x01\x00\x02/b\x05\x00",
		"link to a whiteout":   "\x02\x00\x02/a\x00\x00\x02/b\x05\x00",
		"node cut":             "\x01\x00\x02/b\x01\x00\x00",
		"bytes at the end":     "\x00\x00",
		"length beyond bounds": "\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01/b\x00",
	} {
		index := append([]byte(indexMagic), body...)
		if entries, err := DecodeIndex(index); err == nil {
			t.Errorf("%s: no error, but %v", name, entries)
		} else if !strings.HasPrefix(err.Error(), "decode layer index: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodeIndex(f *testing.F) {
	entries, err := ReadLayer(bytes.NewReader(indexLayer(f)), nil)
	must(f, err)
	index, err := EncodeIndex(entries)
	must(f, err)
	f.Add(index[len(indexMagic):])
	f.Fuzz(func(t *testing.T, body []byte) {
		entries, err := decodeEntries(body)
		if err == nil {
			_ = fmt.Sprint(len(Bind(entries, func(_, _ int64) Content { return nil })))
			_, _ = Tree{}.Apply(entries)
		}
	})
}
