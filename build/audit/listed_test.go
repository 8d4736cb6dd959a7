package audit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/rootfs"
)

// listedLayer knows what it lists, and cannot be read.
type listedLayer struct {
	v1.Layer
	entries []rootfs.Entry
}

func (l listedLayer) Entries() []rootfs.Entry { return l.entries }

func (l listedLayer) Uncompressed() (io.ReadCloser, error) { return nil, errors.New("read") }

func entriesOf(t testing.TB, data []byte) []rootfs.Entry {
	t.Helper()
	return must[[]rootfs.Entry](t)(rootfs.ReadLayer(bytes.NewReader(data), func(off, size int64) rootfs.Content {
		return rootfs.Bytes(data[off : off+size])
	}))
}

// onDisk is a file as the build context has it.
type onDisk string

func (p onDisk) Open() (io.ReadCloser, error) { return os.Open(string(p)) }

// listedApp is an image whose one file lies at a path.
func listedApp(t *testing.T, name string, size int64, path string) v1.Image {
	t.Helper()
	n := &rootfs.Node{Mode: 0o755, Size: size, Data: onDisk(path)}
	return imageOf(t, "linux/amd64", starts("/app"), listedLayer{layerOf(t), []rootfs.Entry{{Path: name, Node: n}}})
}

func TestAListedFileIsReadWhereItIs(t *testing.T) {
	dir := t.TempDir()
	other := program(t, "linux/arm64") + strings.Repeat("x", 1<<20)
	path := filepath.Join(dir, "app")
	if err := os.WriteFile(path, []byte(other), 0o755); err != nil {
		t.Fatal(err)
	}
	found := audit(t, listedApp(t, "/app", int64(len(other)), path), Options{Dir: filepath.Join(dir, "none")})
	if got := says(found); !strings.Contains(got, "/app: ELF is 64-bit little-endian aarch64") {
		t.Errorf("says %s", got)
	}
}

// A file that is gone by now leaves open what the image holds.
func TestAListedFileThatIsGoneIsAnError(t *testing.T) {
	img := listedApp(t, "/app", 100, filepath.Join(t.TempDir(), "gone"))
	found, err := Image(t.Context(), Subject{Image: img, Platform: parse(t, "linux/amd64"), Base: &Base{}}, Options{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, %v", err, found)
	}
}

// Names that hide others have to be read as whoever unpacks the layer does.
func TestALayerWithWhiteoutsForNamesIsRead(t *testing.T) {
	data := archive(t, file{name: "app", data: program(t, "linux/amd64")}, file{name: ".wh.x", data: "literal"})
	literal := append(entriesOf(t, data), rootfs.Entry{Path: "/.wh.x", Node: &rootfs.Node{Mode: 0o644}})
	img := imageOf(t, "linux/amd64", starts("/app"), listedLayer{rawLayer(t, data), literal})
	if got := says(audit(t, img, Options{})); !strings.Contains(got, "cannot be unpacked: read") {
		t.Errorf("says %s", got)
	}
}
