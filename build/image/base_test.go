package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

var someBase = dockerfile.Op{Base: &dockerfile.Base{Ref: "example.com/base:1", Digest: "sha256:00"}}

func snapshotOf(t testing.TB, b *Blobs, layers ...v1.Layer) snapshot {
	t.Helper()
	return value[snapshot](t)(baseSnapshot(t.Context(), baseImage(t, layers...), someBase, b))
}

func contentOf(t testing.TB, s snapshot, p string) (string, error) {
	t.Helper()
	r, err := value[rootfs.Tree](t)(s.tree(t.Context())).Open(p)
	if err != nil {
		return "", err
	}
	defer func() { must(t, r.Close()) }()
	data, err := io.ReadAll(r)
	return string(data), err
}

func TestABaseIsReadWhenItsTreeIsAskedFor(t *testing.T) {
	b := newBlobs(t, "")
	lower, upper := tarLayer(t, "etc/", "etc/x=lower"), tarLayer(t, "etc/", "etc/y=upper")
	s := snapshotOf(t, b, lower, upper)
	if lower.reads.Load()+upper.reads.Load() != 0 {
		t.Fatal("read before anybody asked")
	}
	for range 3 { // headers
		names := value[[]string](t)(value[rootfs.Tree](t)(s.tree(t.Context())).ReadDir("/etc"))
		same(t, names, "x", "y")
	}
	if lower.reads.Load() != 1 || upper.reads.Load() != 1 {
		t.Errorf("headers read %d and %d times", lower.reads.Load(), upper.reads.Load())
	}
	if left := leftovers(t, b); len(left) > 0 {
		t.Errorf("headers alone left %q", left)
	}
	for range 3 { // content, of one layer
		if got, err := contentOf(t, s, "/etc/y"); got != "upper" || err != nil {
			t.Errorf("%q, error %v", got, err)
		}
	}
	if lower.reads.Load() != 1 || upper.reads.Load() != 2 {
		t.Errorf("in the end read %d and %d times", lower.reads.Load(), upper.reads.Load())
	}
	if lower.open.Load()+upper.open.Load() != 0 {
		t.Error("a stream was left open")
	}
	if left := leftovers(t, b); len(left) != 1 || !strings.HasPrefix(left[0], "base-") {
		t.Errorf("spooled %q", left)
	}
}

func TestALayerThatListsNothingIsReadOnce(t *testing.T) {
	l := tarLayer(t)
	s := snapshotOf(t, newBlobs(t, ""), l)
	for range 3 {
		if got := entriesOf(t, s, 0); len(got) != 0 {
			t.Errorf("lists %v", got)
		}
	}
	if l.reads.Load() != 1 {
		t.Errorf("read %d times", l.reads.Load())
	}
}

func TestOneBaseServesManyGoroutines(t *testing.T) {
	b := newBlobs(t, t.TempDir())
	l := tarLayer(t, "etc/", "etc/a=aaa", "etc/b=bbbb", "etc/c=>etc/a")
	s := snapshotOf(t, b, l)
	var group sync.WaitGroup
	for range 8 {
		for name, want := range map[string]string{"/etc/a": "aaa", "/etc/b": "bbbb", "/etc/c": "aaa"} {
			group.Go(func() {
				if got, err := contentOf(t, s, name); got != want || err != nil {
					t.Errorf("%s: %q, error %v", name, got, err)
				}
			})
		}
	}
	group.Wait()
	if l.reads.Load() != 2 {
		t.Errorf("read %d times: once for headers and once for content would do", l.reads.Load())
	}
}

func TestTheBoundOfALayer(t *testing.T) {
	b := bound{floor: 1000, ratio: 10, most: 5000}
	for compressed, want := range map[int64]int64{
		0: 1000, 1: 1010, 100: 2000, 400: 5000, 401: 5000, math.MaxInt64: 5000, math.MaxInt64 / 10: 5000,
	} {
		if got := b.of(compressed); got != want {
			t.Errorf("%d compressed bytes: %d, want %d", compressed, got, want)
		}
	}
	if got := layerBound.of(31 << 20); got < 32<<30 {
		t.Errorf("32 GiB of zeros, which gzip makes 31 MiB, are refused after %d bytes", got)
	}
	if got := layerBound.of(math.MaxInt64); got != layerBound.most {
		t.Errorf("at most %d", got)
	}
}

// endless is a layer of one file whose zeros do not end; after 128 MiB, which is
// beyond every bound here, they do, so that a test fails that does not stop.
func endless(t testing.TB) *fakeLayer {
	t.Helper()
	l := tarLayer(t, "bomb=x")
	var head bytes.Buffer
	must(t, tar.NewWriter(&head).WriteHeader(&tar.Header{Name: "bomb", Typeflag: tar.TypeReg, Size: 1 << 62, Format: tar.FormatGNU}))
	l.stream = func() io.Reader {
		return io.MultiReader(bytes.NewReader(head.Bytes()), io.LimitReader(zeros{}, 128<<20))
	}
	return l
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestABombEndsWhereItsHeadersAreRead(t *testing.T) {
	b := newBlobs(t, t.TempDir())
	b.layerBound = bound{floor: 64 << 20, ratio: 1, most: math.MaxInt64}
	l := endless(t)
	s := snapshotOf(t, b, l)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := s.tree(t.Context())
	runtime.ReadMemStats(&after)
	says(t, err, "layer "+digestOf(t, l)+": read layer after entry \"bomb\": more than 67108")
	says(t, err, " compressed ones")
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes of memory for 64 MiB", used)
	}
	if _, known := b.indexes.Get(value[v1.Hash](t)(l.Digest()).String()); known {
		t.Error("what was read of it is remembered")
	}
	if l.open.Load() != 0 {
		t.Error("the stream was left open")
	}
}

// Headers may be known from a run that had them from an honest stream.
func TestABombEndsWhereItsContentIsRead(t *testing.T) {
	b := newBlobs(t, "")
	l := tarLayer(t, "bomb=x")
	s := snapshotOf(t, b, l)
	entriesOf(t, s, 0)
	l.stream = endless(t).stream
	b.layerBound = bound{floor: 4 << 20, ratio: 1, most: 4 << 20}
	_, err := contentOf(t, s, "/bomb")
	says(t, err, "layer "+digestOf(t, l)+": more than 4194304 bytes out of ")
	if left := leftovers(t, b); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if l.open.Load() != 0 {
		t.Error("the stream was left open")
	}
	l.stream = nil // a failure is not remembered
	if got, err := contentOf(t, s, "/bomb"); got != "x" || err != nil {
		t.Errorf("%q, error %v", got, err)
	}
}

func TestALayerAtItsBoundIsRead(t *testing.T) {
	b := newBlobs(t, "")
	l := tarLayer(t, "a=x")
	exactly := int64(len(l.plain))
	b.layerBound = bound{most: exactly, floor: exactly, ratio: 1}
	if got, err := contentOf(t, snapshotOf(t, b, l), "/a"); got != "x" || err != nil {
		t.Errorf("%q, error %v", got, err)
	}
	b.layerBound.most--
	_, err := snapshotOf(t, b, l).tree(t.Context())
	says(t, err, "more than 2047 bytes")
}

func TestReadingABaseEndsWithTheBuild(t *testing.T) {
	stopped := errors.New("stopped")
	for _, tt := range []struct {
		name string
		read func(*testing.T, snapshot) error
	}{
		{"headers", func(t *testing.T, s snapshot) error { _, err := s.tree(context.Background()); return err }},
		{"content", func(t *testing.T, s snapshot) error { _, err := contentOf(t, s, "/bomb"); return err }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBlobs(t, "")
			ctx, cancel := context.WithCancelCause(t.Context())
			l := tarLayer(t, "bomb=x")
			s := value[snapshot](t)(baseSnapshot(ctx, baseImage(t, l), someBase, b))
			if tt.name == "content" {
				entriesOf(t, s, 0)
			}
			stream := endless(t).stream()
			l.stream = func() io.Reader {
				return readFunc(func(p []byte) (int, error) { cancel(stopped); return stream.Read(p) })
			}
			if err := tt.read(t, s); !errors.Is(err, stopped) {
				t.Errorf("error %v", err)
			}
			if left := leftovers(t, b); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func TestALayerThatBreaksOffIsAnError(t *testing.T) {
	broken := errors.New("connection reset")
	b := newBlobs(t, "")
	l := tarLayer(t, "etc/", "etc/x=1")
	l.stream = func() io.Reader {
		return io.MultiReader(bytes.NewReader(l.plain), readFunc(func([]byte) (int, error) { return 0, broken }))
	}
	s := snapshotOf(t, b, l)
	_, err := s.tree(t.Context())
	if !errors.Is(err, broken) {
		t.Errorf("error %v: the end of a stream says whether its digest is right", err)
	}
	l.stream = nil // a failure is not remembered
	if got, err := contentOf(t, s, "/etc/x"); got != "1" || err != nil {
		t.Errorf("again: %q, error %v", got, err)
	}
}

func TestABaseIsDescribedAsBuildKitDoes(t *testing.T) {
	const digest = "sha256:00"
	for ref, want := range map[string]string{
		"example.com/base:1":              "pulled from example.com/base:1@" + digest,
		"example.com/base:1@" + digest:    "pulled from example.com/base:1@" + digest,
		"example.com:5000/base@" + digest: "pulled from example.com:5000/base@" + digest,
	} {
		op := dockerfile.Op{Base: &dockerfile.Base{Ref: ref, Digest: digest}}
		s := value[snapshot](t)(baseSnapshot(t.Context(), baseImage(t, tarLayer(t)), op, newBlobs(t, "")))
		if got := s.layers[0].description; got != want {
			t.Errorf("%s: %s", ref, got)
		}
	}
}

func TestASpooledLayerEndsWithTheBlobs(t *testing.T) {
	b := value[*Blobs](t)(NewBlobs(t.TempDir(), rootfs.Indexes{}))
	s := snapshotOf(t, b, tarLayer(t, "a=1"))
	if got, err := contentOf(t, s, "/a"); got != "1" || err != nil {
		t.Fatalf("%q, error %v", got, err)
	}
	must(t, b.Close())
	if _, err := contentOf(t, s, "/a"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// Layers that are within their bounds one by one are not so together.
func TestManyLayersAreBoundedTogether(t *testing.T) {
	half := make([]rootfs.Entry, maxEntries/2+1)
	for i := range half {
		half[i] = rootfs.Entry{Path: "/f", Node: &rootfs.Node{}}
	}
	layer := pending{entries: func(context.Context) ([]rootfs.Entry, error) { return half, nil }}
	one, two := snapshot{layers: []pending{layer}}, snapshot{layers: []pending{layer, layer}}
	if _, err := (snapshot{}).stack(one).tree(t.Context()); err != nil {
		t.Errorf("one layer: %v", err)
	}
	if _, err := (snapshot{}).stack(two).tree(t.Context()); err == nil || err.Error() != "the layers list more than 2097152 files" {
		t.Errorf("two: %v", err)
	}
}
