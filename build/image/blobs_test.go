package image

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/rootfs"
)

// Digests of layers, which are a promise: the same inputs give the same digest
// on any machine. When a new version of a compressor changes its bytes, these
// tests fail, and every digest that users have published changes with that
// version. Then, and only then, write the new ones here, and say so in the
// changelog. The diff IDs depend on rootfs alone and must not change with it.
const (
	knownDiffID = "sha256:dc1caf78ee4c342e531c484033a6063898b8ce16f46896c3df9d6f5b8aaeeeb3"
	knownGzip   = "sha256:91761d3eed60d95ea3065539805f1f85588d047f7976ac2c4ad6913402e1cca7"
	knownZstd   = "sha256:86340db251d30b463c3394ee715e4f16408747c27463ccce4ef4af5bfbbac11b"

	// The layer that BuildKit v0.34.2 keeps for an instruction that changed
	// nothing: 1024 zero bytes. Its digest there, 4f4fb700…, is that of other
	// gzip bytes.
	emptyDiffID = "sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
	emptyGzip   = "sha256:c95903e8fc53166bc40857ffa34233146b58fa0583a6a3f758088fb23075cfc7"
	emptyZstd   = "sha256:2c1ce468d9f3d941396801f6e3afc8921466650dd05430fe644cd3537713d27f"
)

// noise is what no compressor gets smaller, the same everywhere.
func noise(size int) []byte {
	var out []byte
	for i := uint64(0); len(out) < size; i++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
		out = append(out, sum[:]...)
	}
	return out[:size]
}

// knownLayer spans several blocks of both compressors, some of which shrink.
func knownLayer(t testing.TB) []rootfs.Entry {
	t.Helper()
	text := bytes.Repeat([]byte("what is written is written\n"), 60_000)
	e := rootfs.Tree{}.Edit()
	must(t, e.MkdirAll("/usr/bin", 0o755, nil))
	for name, data := range map[string][]byte{
		"/usr/bin/app": append(noise(2<<20), text...), "/usr/text": text, "/empty": nil,
	} {
		must(t, e.Put(name, &rootfs.Node{Mode: 0o755, Size: int64(len(data)), Data: rootfs.Bytes(data)}))
	}
	return rootfs.Diff(rootfs.Tree{}, e.Tree())
}

// dribble hands writes on in pieces of odd sizes.
type dribble struct{ w io.Writer }

func (d dribble) Write(p []byte) (int, error) {
	done := 0
	for size := 1; done < len(p); size = size*3%70_001 + 1 {
		n, err := d.w.Write(p[done:min(done+size, len(p))])
		if done += n; err != nil {
			return done, err
		}
	}
	return done, nil
}

func writeKnown(t testing.TB, b *Blobs, f Format, entries []rootfs.Entry, through func(io.Writer) io.Writer) *blob {
	t.Helper()
	return value[*blob](t)(b.write(t.Context(), f, func(w io.Writer) error {
		return rootfs.WriteLayer(through(w), entries, time.Time{})
	}))
}

func whole(w io.Writer) io.Writer { return w }

func TestTheBytesOfLayersDoNotChange(t *testing.T) {
	b := newBlobs(t, "")
	for _, tt := range []struct {
		name           string
		format         Format
		entries        []rootfs.Entry
		digest, diffID string
	}{
		{"gzip", Format{}, knownLayer(t), knownGzip, knownDiffID},
		{"gzip, docker", Format{Docker: true}, knownLayer(t), knownGzip, knownDiffID},
		{"zstd", Format{Zstd: true}, knownLayer(t), knownZstd, knownDiffID},
		{"empty, gzip", Format{}, nil, emptyGzip, emptyDiffID},
		{"empty, zstd", Format{Zstd: true}, nil, emptyZstd, emptyDiffID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := writeKnown(t, b, tt.format, tt.entries, whole)
			if got.digest.String() != tt.digest || got.diffID.String() != tt.diffID {
				t.Errorf("digest %s, diff ID %s\nwant   %s,         %s", got.digest, got.diffID, tt.digest, tt.diffID)
			}
		})
	}
}

// What the tar writer hands on in one piece, and how many processors there are,
// is no business of the digest.
func TestBytesDependOnContentAlone(t *testing.T) {
	entries := knownLayer(t)
	for _, procs := range []int{1, 8} {
		before := runtime.GOMAXPROCS(procs)
		for format, want := range map[Format]string{{}: knownGzip, {Zstd: true}: knownZstd} {
			for _, through := range []func(io.Writer) io.Writer{whole, func(w io.Writer) io.Writer { return dribble{w} }} {
				got := writeKnown(t, newBlobs(t, ""), format, entries, through)
				if got.digest.String() != want {
					t.Errorf("%v with %d processors: %s, want %s", format, procs, got.digest, want)
				}
			}
		}
		runtime.GOMAXPROCS(before)
	}
}

func TestABlobHoldsWhatItSays(t *testing.T) {
	b := newBlobs(t, "")
	for _, format := range []Format{{}, {Zstd: true}} {
		got := writeKnown(t, b, format, knownLayer(t), whole)
		packed := value[io.ReadCloser](t)(got.Compressed())
		digest, size, err := v1.SHA256(packed)
		must(t, errors.Join(err, packed.Close()))
		plain := value[io.ReadCloser](t)(got.Uncompressed())
		diffID, _, err := v1.SHA256(plain)
		must(t, errors.Join(err, plain.Close()))
		if digest != got.digest || size != got.size || diffID != got.diffID {
			t.Errorf("%v: %s, %d bytes, %s; says %s, %d, %s", format, digest, size, diffID, got.digest, got.size, got.diffID)
		}
		if filepath.Base(got.path) != got.digest.Hex {
			t.Errorf("lies in %s", got.path)
		}
	}
	if left := leftovers(t, b); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A layer that is cut short must not look like one that is shorter.
func TestADamagedBlobIsAnErrorToRead(t *testing.T) {
	b := newBlobs(t, "")
	for _, format := range []Format{{}, {Zstd: true}} {
		got := writeKnown(t, b, format, knownLayer(t), whole)
		for _, size := range []int64{0, 1, got.size / 2, got.size - 1} {
			must(t, os.Truncate(got.path, size))
			plain, err := got.Uncompressed()
			if err == nil {
				_, err = io.Copy(io.Discard, plain)
				plain.Close()
			}
			if err == nil && size > 0 { // no frames at all are a valid zstd stream
				t.Errorf("%v: %d of %d bytes read without an error", format, size, got.size)
			}
		}
	}
}

func TestAFailedLayerLeavesNothing(t *testing.T) {
	wrong := errors.New("wrong")
	stopped := errors.New("stopped")
	for _, format := range []Format{{}, {Zstd: true}} {
		b := newBlobs(t, "")
		done, err := b.write(t.Context(), format, func(w io.Writer) error {
			_, err := w.Write(noise(3 << 20))
			return errors.Join(err, wrong)
		})
		if !errors.Is(err, wrong) || done != nil {
			t.Errorf("%v: %v, error %v", format, done, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		done, err = b.write(ctx, format, func(w io.Writer) error {
			for range 4 {
				if _, err := w.Write(noise(1 << 20)); err != nil {
					return err
				}
				cancel(stopped)
			}
			return nil
		})
		if !errors.Is(err, stopped) || done != nil {
			t.Errorf("%v, cancelled: %v, error %v", format, done, err)
		}
		if left := value[[]os.DirEntry](t)(os.ReadDir(b.dir)); len(left) > 0 {
			t.Errorf("%v: left behind: %v", format, left)
		}
	}
}

func TestCloseRemovesEverythingAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o600))
	b := value[*Blobs](t)(NewBlobs(dir, rootfs.Indexes{}))
	writeKnown(t, b, Format{}, nil, whole)
	sub := value[string](t)(b.temp("engine-"))
	must(t, os.WriteFile(filepath.Join(sub, "file"), nil, 0o600))
	must(t, b.Close())
	must(t, b.Close())
	left := value[[]os.DirEntry](t)(os.ReadDir(dir))
	if len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("left: %v", left)
	}
}

func TestBlobsNeedADirectory(t *testing.T) {
	if b, err := NewBlobs(filepath.Join(t.TempDir(), "none"), rootfs.Indexes{}); err == nil {
		t.Errorf("made %s", b.dir)
	}
	b := value[*Blobs](t)(NewBlobs(t.TempDir(), rootfs.Indexes{}))
	must(t, b.Close())
	if _, err := b.write(t.Context(), Format{}, func(io.Writer) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
