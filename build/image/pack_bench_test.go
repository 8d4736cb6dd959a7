package image

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/cache"
)

// programText is bytes that compress about as programs do: phrases of which few
// are common, as instructions are.
func programText(size int) []byte {
	random := rand.New(rand.NewPCG(1, 1))
	pick := rand.NewZipf(rand.New(rand.NewPCG(2, 2)), 1.05, 20, 1<<13)
	phrases := make([][]byte, 1<<13+1)
	for i := range phrases {
		for range 3 + random.IntN(8) {
			phrases[i] = append(phrases[i], byte(random.Uint32()))
		}
	}
	out := make([]byte, 0, size+16)
	for len(out) < size {
		out = append(out, phrases[pick.Uint64()]...)
	}
	return out[:size]
}

// plantPrograms writes n programs of that many bytes each.
func plantPrograms(b *testing.B, n, size int) (dir string) {
	b.Helper()
	dir = b.TempDir()
	text := programText(16 << 20)
	for i := range n {
		f := value[*os.File](b)(os.Create(filepath.Join(dir, fmt.Sprint("app", i))))
		must(b, binary.Write(f, binary.LittleEndian, uint64(i)))
		for left := size; left > 0; left -= len(text) {
			_ = value[int](b)(f.Write(text[:min(left, len(text))]))
		}
		must(b, f.Close())
	}
	return dir
}

// watchHeap gives the most that the heap holds until stop.
func watchHeap() (stop func() (bytes uint64)) {
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most, tick := uint64(0), time.NewTicker(2*time.Millisecond)
		defer tick.Stop()
		for {
			s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
			metrics.Read(s)
			most = max(most, s[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-done:
				peak <- most
				return
			}
		}
	}()
	return func() uint64 { close(done); return <-peak }
}

// buildPrograms builds an image of each program, jobs at once, and reads its
// layers where pull says so. It reports the peak of the heap.
func buildPrograms(b *testing.B, dir string, n, jobs int, facts cache.Store, format Format, pull bool) {
	b.Helper()
	b.StopTimer()
	engine := newNative(b)
	engine.Blobs.Facts, engine.Blobs.settling = facts, 0
	requests := make([]Request, n)
	for i := range requests {
		requests[i] = engine.request(b, dir, fmt.Sprintf("FROM scratch\nCOPY app%d /app\n", i))
		requests[i].Format = format
	}
	runtime.GC()
	stop := watchHeap()
	b.StartTimer()
	var group errgroup.Group
	group.SetLimit(jobs)
	for _, r := range requests {
		group.Go(func() error {
			img, err := engine.Build(b.Context(), r)
			if err != nil || !pull {
				return err
			}
			return readLayers(img)
		})
	}
	must(b, group.Wait())
	b.ReportMetric(float64(stop())/1e6, "peak-MB")
}

// readLayers reads what a registry would be sent.
func readLayers(img v1.Image) error {
	layers, err := img.Layers()
	for _, l := range layers {
		r, err := l.Compressed()
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return err
		}
		r.Close()
	}
	return err
}

// BenchmarkLayers compresses eight programs of 32 MB, and one of 128 MB. Memory
// must not grow with either.
func BenchmarkLayers(b *testing.B) {
	for _, c := range []struct {
		name          string
		n, size, jobs int
		format        Format
	}{
		{"8x32MB/jobs=1", 8, 32 << 20, 1, Format{}},
		{"8x32MB/jobs=8", 8, 32 << 20, 8, Format{}},
		{"1x128MB", 1, 128 << 20, 1, Format{}},
		{"1x128MB/zstd", 1, 128 << 20, 1, Format{Zstd: true}},
	} {
		dir := plantPrograms(b, c.n, c.size)
		b.Run(c.name+"/cold", func(b *testing.B) {
			b.SetBytes(int64(c.n * c.size))
			b.ReportAllocs()
			for b.Loop() {
				buildPrograms(b, dir, c.n, c.jobs, cache.Store{}, c.format, true)
			}
		})
		b.Run(c.name+"/unchanged", func(b *testing.B) {
			facts := cache.Store{Dir: b.TempDir()}
			for range 2 { // all files have settled when the second one begins
				buildPrograms(b, dir, c.n, c.jobs, facts, c.format, false)
			}
			b.SetBytes(int64(c.n * c.size))
			for b.Loop() {
				buildPrograms(b, dir, c.n, c.jobs, facts, c.format, false)
			}
		})
	}
}
