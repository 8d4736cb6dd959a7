package audit

import (
	"bytes"
	"crypto/sha256"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/archmage-go/archmage/build/rootfs"
)

// Whatever the pieces are in which a layer comes, programs and small files are
// kept as they are, and large ones are not.
func TestWhatPassesTheSieve(t *testing.T) {
	app := program(t, "linux/s390x") + strings.Repeat("p", smallFile)
	data := archive(t,
		file{name: "model", data: strings.Repeat("m", smallFile+1)},
		file{name: "app", data: app},
		file{name: "empty"},
		file{name: "small", data: "#"})
	for name, in := range map[string]io.Reader{
		"whole":       bytes.NewReader(data),
		"byte by one": iotest.OneByteReader(bytes.NewReader(data)),
		"halves":      iotest.HalfReader(bytes.NewReader(data)),
	} {
		t.Run(name, func(t *testing.T) {
			s := &sieve{in: in, room: &room{dir: t.TempDir(), left: 1 << 20}, sum: sha256.New(), heads: map[int64]string{}, kept: map[int64]bool{}}
			entries := must[[]rootfs.Entry](t)(rootfs.ReadLayer(s, s.file))
			defer s.spool.Close()
			if got := sha256.Sum256(data); !bytes.Equal(got[:], s.sum.Sum(nil)) {
				t.Error("the sum is another stream's")
			}
			if len(s.heads) != 3 || len(s.kept) != 2 {
				t.Errorf("%d heads, %d kept", len(s.heads), len(s.kept))
			}
			for _, e := range entries {
				section, ok := e.Node.Data.(*rootfs.Section)
				want := map[string]string{"/app": app, "/small": "#"}[e.Path]
				if !ok || want == "" {
					continue
				}
				got := make([]byte, section.Size)
				if _, err := s.spool.ReadAt(got, section.Off); err != nil || string(got) != want {
					t.Errorf("%s: %d bytes that differ, %v", e.Path, len(got), err)
				}
			}
		})
	}
}

func TestASieveWithoutRoomKeepsNothingMore(t *testing.T) {
	data := archive(t, file{name: "a", data: "aaaa"}, file{name: "b", data: "bbbb"})
	s := &sieve{in: bytes.NewReader(data), room: &room{dir: t.TempDir(), left: 6}, sum: sha256.New(), heads: map[int64]string{}, kept: map[int64]bool{}}
	must[[]rootfs.Entry](t)(rootfs.ReadLayer(s, s.file))
	defer s.spool.Close()
	if len(s.kept) != 1 || len(s.heads) != 2 || s.room.left != 2 {
		t.Errorf("%d kept, %d heads, room for %d", len(s.kept), len(s.heads), s.room.left)
	}
}
