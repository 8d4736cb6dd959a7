package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/cache"
	"github.com/archmage-go/archmage/build/files"
	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/rootfs"
)

// fakeFile is a file of which a test knows who reads it, and says what the file
// system says.
type fakeFile struct {
	data   string
	stamp  rootfs.Stamp
	opens  atomic.Int32
	onOpen func()
}

func newFile(data string) *fakeFile {
	old := time.Now().Add(-time.Hour).UnixNano()
	return &fakeFile{data: data, stamp: rootfs.Stamp{Path: "/file", Inode: files.Inode{Number: 1, Modified: old, Changed: old}}}
}

func (f *fakeFile) Open() (io.ReadCloser, error) {
	f.opens.Add(1)
	if f.onOpen != nil {
		f.onOpen()
	}
	return io.NopCloser(strings.NewReader(f.data)), nil
}

func (f *fakeFile) Stamp() (rootfs.Stamp, error) { return f.stamp, nil }

// layerOf are the contents of a layer with one file.
func layerOf(f rootfs.Content, size int, format Format) contents {
	n := &rootfs.Node{Mode: 0o755, Size: int64(size), Data: f}
	return contents{entries: []rootfs.Entry{{Path: "/app", Node: n}}, format: format}
}

// aRun is a run of archmage that remembers in dir.
func aRun(t *testing.T, dir string) *Blobs {
	t.Helper()
	b := newBlobs(t, "")
	b.Facts = cache.Store{Dir: dir}
	return b
}

func (f *fakeFile) layer(t *testing.T, b *Blobs) v1.Layer {
	t.Helper()
	return value[v1.Layer](t)(b.layer(t.Context(), layerOf(f, len(f.data), Format{})))
}

// plainDigest is what the layer has to be, by a run that remembers nothing.
func (f *fakeFile) plainDigest(t *testing.T) string {
	t.Helper()
	return digestOf(t, newFile(f.data).layer(t, newBlobs(t, "")))
}

// did compares how often a file was read, and how many layers a run compressed.
func did(t *testing.T, f *fakeFile, b *Blobs, reads int32, layers int) {
	t.Helper()
	if got := f.opens.Swap(0); got != reads {
		t.Errorf("read %d times, want %d", got, reads)
	}
	if got := len(value[[]os.DirEntry](t)(os.ReadDir(b.dir))); got != layers {
		t.Errorf("compressed %d layers, want %d", got, layers)
	}
}

func TestAnUnchangedLayerIsNotRead(t *testing.T) {
	dir, f := t.TempDir(), newFile("some data")
	want := f.plainDigest(t)
	for i := range 3 {
		b := aRun(t, dir)
		l := f.layer(t, b)
		if digestOf(t, l) != want {
			t.Errorf("run %d: %s, want %s", i, digestOf(t, l), want)
		}
		if i == 0 {
			did(t, f, b, 1, 1)
			continue
		}
		did(t, f, b, 0, 0)
		intactLayer(t, l)
		intactLayer(t, l)
		did(t, f, b, 1, 1)
	}
}

// intactLayer holds that a layer's bytes are what it says.
func intactLayer(t *testing.T, l v1.Layer) {
	t.Helper()
	packed := value[io.ReadCloser](t)(l.Compressed())
	digest, size, err := v1.SHA256(packed)
	must(t, errors.Join(err, packed.Close()))
	plain := value[io.ReadCloser](t)(l.Uncompressed())
	diffID, _, err := v1.SHA256(plain)
	must(t, errors.Join(err, plain.Close()))
	if value[v1.Hash](t)(l.Digest()) != digest || value[int64](t)(l.Size()) != size || value[v1.Hash](t)(l.DiffID()) != diffID {
		t.Errorf("says %s, is %s", digestOf(t, l), digest)
	}
}

// A checkout, or go build's hard link, touches files that stay as they were.
func TestATouchedFileIsReadAndNotCompressed(t *testing.T) {
	dir, f := t.TempDir(), newFile("some data")
	want := digestOf(t, f.layer(t, aRun(t, dir)))
	f.opens.Store(0)
	f.stamp.Inode.Number = 2
	for i, reads := range []int32{1, 0} {
		b := aRun(t, dir)
		if got := digestOf(t, f.layer(t, b)); got != want {
			t.Errorf("run %d: %s, want %s", i, got, want)
		}
		did(t, f, b, reads, 0)
	}
}

// TestAFileThatIsKnownToBeTheSameIsNotRead: the go command touches what is up to
// date, and who ran it knows.
func TestAFileThatIsKnownToBeTheSameIsNotRead(t *testing.T) {
	dir, f := t.TempDir(), newFile("some data")
	made := f.stamp.Inode
	want := digestOf(t, f.layer(t, aRun(t, dir)))
	f.opens.Store(0)
	f.stamp.Inode.Changed = time.Now().UnixNano() // later than what settles
	b := aRun(t, dir)
	b.settling = settling
	b.Made = map[files.Inode]files.Inode{f.stamp.Inode: made}
	if got := digestOf(t, f.layer(t, b)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	did(t, f, b, 0, 0)

	f.stamp.Inode.Changed++ // somebody else did that, or wrote to it
	f.layer(t, b)
	did(t, f, b, 1, 0)
}

func TestAChangedFileIsCompressed(t *testing.T) {
	dir, f := t.TempDir(), newFile("some data")
	f.layer(t, aRun(t, dir))
	f.data, f.stamp.Inode.Number = "same size", 2
	f.opens.Store(0)
	b := aRun(t, dir)
	if got, want := digestOf(t, f.layer(t, b)), f.plainDigest(t); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	did(t, f, b, 2, 1)
}

// Of a file that was just written it is not known whether its time would show
// that it is written again.
func TestAFileThatJustChangedIsNotRemembered(t *testing.T) {
	for _, age := range []time.Duration{time.Hour, 0, -time.Hour} {
		dir, f := t.TempDir(), newFile("some data")
		f.stamp.Inode.Changed = time.Now().Add(-age).UnixNano()
		b := aRun(t, dir)
		b.settling = max(settling, age+time.Minute)
		f.layer(t, b)
		f.data = "same size" // under the same stamp
		if got, want := digestOf(t, f.layer(t, aRun(t, dir))), f.plainDigest(t); got != want {
			t.Errorf("%s old: %s, want %s", age, got, want)
		}
	}
}

func TestAFileThatChangesWhileItIsReadIsNotRemembered(t *testing.T) {
	dir, f := t.TempDir(), newFile("some data")
	f.onOpen = func() { f.stamp.Inode.Number = 2 }
	f.layer(t, aRun(t, dir))
	f.data, f.onOpen = "same size", nil
	for _, id := range []uint64{1, 2} {
		f.stamp.Inode.Number = id
		if got, want := digestOf(t, f.layer(t, aRun(t, dir))), f.plainDigest(t); got != want {
			t.Errorf("%d: %s, want %s", id, got, want)
		}
	}
}

// What is remembered wrongly is found out before its bytes are used, and put
// right for this run and the next.
func TestAPoisonedMemoryIsNoticed(t *testing.T) {
	f := newFile("some data")
	c := layerOf(f, len(f.data), Format{})
	id := value[identity](t)(c.identify())
	other := newFile("other data").layer(t, newBlobs(t, ""))
	wrong := fmt.Appendf(nil, "%s %d\n", digestOf(t, other), value[int64](t)(other.Size()))
	otherID := value[v1.Hash](t)(other.DiffID()).String()
	for name, poison := range map[string]func(b *Blobs, diffID string){
		"digest": func(b *Blobs, diffID string) { b.Facts.Put(b.packedKey(Format{}, diffID), wrong) },
		"diff ID": func(b *Blobs, _ string) {
			b.Facts.Put(filesKey(id), []byte(otherID))
			b.Facts.Put(b.packedKey(Format{}, otherID), wrong)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			right := f.layer(t, aRun(t, dir))
			b := aRun(t, dir)
			b.settling = 2 * time.Hour // nothing replaces what was wrong
			poison(b, value[v1.Hash](t)(right.DiffID()).String())
			l := f.layer(t, b)
			if digestOf(t, l) != digestOf(t, other) {
				t.Fatal("not poisoned")
			}
			for range 2 {
				_, err := l.Compressed()
				stale := &StaleError{}
				if _, plainErr := l.Uncompressed(); !errors.As(err, &stale) || !errors.As(plainErr, &stale) {
					t.Errorf("error %v, %v", err, plainErr)
				}
			}
			for _, b := range []*Blobs{b, aRun(t, dir)} {
				again := f.layer(t, b)
				if digestOf(t, again) != digestOf(t, right) {
					t.Errorf("not put right: %s", digestOf(t, again))
				}
				intactLayer(t, again)
			}
		})
	}
}

func TestAMemoryThatMakesNoSenseIsNone(t *testing.T) {
	f := newFile("some data")
	want := f.plainDigest(t)
	id := value[identity](t)(layerOf(f, len(f.data), Format{}).identify())
	diffID := value[v1.Hash](t)(f.layer(t, newBlobs(t, "")).DiffID()).String()
	for _, text := range []string{"", "x", want, want + " x\n", want + " -1\n", want + " 0\n", "sha256:zz 5\n", "md5:00 5\n"} {
		b := aRun(t, t.TempDir())
		b.Facts.Put(filesKey(id), []byte(text))
		b.Facts.Put(b.packedKey(Format{}, text), []byte(text))
		b.Facts.Put(b.packedKey(Format{}, diffID), []byte(text))
		b.Facts.Put(headersKey(id), []byte(text))
		l := f.layer(t, b)
		if digestOf(t, l) != want {
			t.Errorf("%q: %s, want %s", text, digestOf(t, l), want)
		}
		intactLayer(t, l)
	}
}

func TestWithoutAPlaceForFactsLayersAreTheSame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	f := newFile("some data")
	for _, dir := range []string{"", file, filepath.Join(file, "below")} {
		for range 2 {
			if got, want := digestOf(t, f.layer(t, aRun(t, dir))), f.plainDigest(t); got != want {
				t.Errorf("%q: %s, want %s", dir, got, want)
			}
		}
	}
}

func TestFormatsAreRememberedApart(t *testing.T) {
	dir, f := t.TempDir(), newFile(strings.Repeat("some data", 1000))
	for range 2 {
		b := aRun(t, dir)
		digests := map[string]bool{}
		for _, format := range []Format{{}, {Zstd: true}, {Docker: true}, {Docker: true, Zstd: true}} {
			l := value[v1.Layer](t)(b.layer(t.Context(), layerOf(f, len(f.data), format)))
			if got := value[types.MediaType](t)(l.MediaType()); got != layerType(format) {
				t.Errorf("%v: %s", format, got)
			}
			intactLayer(t, l)
			digests[digestOf(t, l)] = true
		}
		if len(digests) != 2 {
			t.Errorf("digests %v", digests)
		}
	}
}

// Legs that share a layer, and want it at once, have it compressed once.
func TestALayerIsCompressedOnceForAllLegs(t *testing.T) {
	f := newFile(string(noise(1 << 20)))
	b := newBlobs(t, "")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			l, err := b.layer(t.Context(), layerOf(f, len(f.data), Format{}))
			if err != nil {
				t.Error(err)
				return
			}
			intactLayer(t, l)
		})
	}
	group.Wait()
	did(t, f, b, 1, 1)
}

// A leg whose time is up does not fail those that want the same layer.
func TestAnotherLegsEndIsNotShared(t *testing.T) {
	f := newFile(string(noise(1 << 20)))
	b := newBlobs(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	f.onOpen = cancel
	if _, err := b.layer(ctx, layerOf(f, len(f.data), Format{})); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	intactLayer(t, f.layer(t, b))
}

// A writer is used again, with whatever was in its buffers.
func TestBytesDoNotDependOnWhatWasCompressedBefore(t *testing.T) {
	entries := knownLayer(t)
	b := newBlobs(t, "")
	for i := range 4 {
		must(t, b.packer.pack(io.Discard, Format{}, func(w io.Writer) error {
			_, err := io.Copy(w, io.MultiReader(bytes.NewReader(noise(i*500_000)), strings.NewReader(strings.Repeat("what is written", i*100_000))))
			return err
		}))
		if got := writeKnown(t, b, Format{}, entries, whole); got.digest.String() != knownGzip {
			t.Errorf("after %d: %s", i, got.digest)
		}
	}
	if len(b.packer.idle) != 1 {
		t.Errorf("%d writers", len(b.packer.idle))
	}
}

// IMAGE_OUT takes the file that was written, and keeps it.
func TestALayerIsLinkedIntoALayout(t *testing.T) {
	f := newFile("some data")
	dir := t.TempDir()
	b := value[*Blobs](t)(NewBlobs(dir, rootfs.Indexes{}))
	img := value[v1.Image](t)(mutate.AppendLayers(empty.Image, f.layer(t, b)))
	out := filepath.Join(t.TempDir(), "out")
	_, err := registry.OpenLayout(out, out).PutImage(t.Context(), "1", img)
	must(t, err)
	hex := strings.TrimPrefix(digestOf(t, layersOf(t, img)[0]), "sha256:")
	there := value[os.FileInfo](t)(os.Stat(filepath.Join(out, "blobs/sha256", hex)))
	if made := value[os.FileInfo](t)(os.Stat(filepath.Join(b.dir, hex))); !os.SameFile(made, there) {
		t.Error("copied")
	}
	must(t, b.Close())
	if there.Mode() != 0o644 {
		t.Errorf("mode %s", there.Mode())
	}
	l := layersOf(t, value[v1.Image](t)(registry.OpenLayout(out, out).Image(t.Context(), digestOf(t, img))))[0]
	intactLayer(t, l)
}
