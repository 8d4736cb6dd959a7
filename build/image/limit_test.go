package image

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sync/errgroup"
)

// BenchmarkLimit does the least that images of files need: it reads every byte
// of the files that LIMIT_FILES, a pattern, names, hashes it, compresses it as
// layers are, and hashes what came out, on all cores. scripts/bench compares
// whole builds with it.
func BenchmarkLimit(b *testing.B) {
	pattern := os.Getenv("LIMIT_FILES")
	if pattern == "" {
		b.Skip("LIMIT_FILES names no files")
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		b.Fatalf("LIMIT_FILES %s: %d files, %v", pattern, len(files), err)
	}
	p := newPacker(runtime.GOMAXPROCS(0))
	for b.Loop() {
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for _, name := range files {
			group.Go(func() error { return compressOnce(p, name) })
		}
		if err := group.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

func compressOnce(p *packer, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	packed := &counter{w: io.Discard, hash: sha256.New()}
	return p.pack(packed, Format{}, func(w io.Writer) error {
		_, err := io.Copy(&counter{w: w, hash: sha256.New()}, file)
		return err
	})
}
