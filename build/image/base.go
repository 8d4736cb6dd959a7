package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// baseSnapshot is a base image. Its layers are read when its tree is asked for,
// and of them the headers, which are remembered for the next run; the content of
// a file only when it is opened. All of that ends with ctx.
func baseSnapshot(ctx context.Context, img v1.Image, op dockerfile.Op, blobs *Blobs) (snapshot, error) {
	layers, err := img.Layers()
	if err != nil {
		return snapshot{}, err
	}
	description := "pulled from " + op.Base.Ref
	if !strings.Contains(description, "@") {
		description += "@" + op.Base.Digest
	}
	var s snapshot
	for _, l := range layers {
		spooled := &spooledLayer{layer: l, dir: blobs.dir, indexes: blobs.indexes}
		spooled.unpack = func() (io.ReadCloser, error) { return blobs.layerBound.unpack(ctx, l) }
		s.layers = append(s.layers, pending{description: description, base: l, entries: spooled.entries})
	}
	s.fold = snapshot{}.stack(s).fold
	return s, nil
}

// spooledLayer reads a base's layer: the headers once, and the uncompressed
// stream into a file when somebody opens a file of it.
type spooledLayer struct {
	layer   v1.Layer
	unpack  func() (io.ReadCloser, error) // the uncompressed stream, bounded
	dir     string
	indexes rootfs.Indexes

	mu    sync.Mutex
	path  string // of the uncompressed stream; "" until it is needed
	known bool   // whether index is, which may be empty
	index []rootfs.Entry
}

// entries are what the layer lists.
func (s *spooledLayer) entries(context.Context) ([]rootfs.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known {
		return s.index, nil
	}
	digest, err := s.layer.Digest()
	if err != nil {
		return nil, err
	}
	index, known := s.indexes.Get(digest.String())
	if !known {
		if index, err = s.read(); err != nil {
			return nil, fmt.Errorf("layer %s: %w", digest, err)
		}
		s.indexes.Put(digest.String(), index)
	}
	s.index = rootfs.Bind(index, func(off, size int64) rootfs.Content { return section{s, off, size} })
	s.known = true
	return s.index, nil
}

// read reads the headers, and with them the whole layer. What files hold passes
// through and is kept nowhere.
func (s *spooledLayer) read() ([]rootfs.Entry, error) {
	stream, err := s.unpack()
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	return rootfs.ReadLayer(stream, nil)
}

// open is the uncompressed stream as a file, which ends with the blobs.
func (s *spooledLayer) open() (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path != "" {
		return os.Open(s.path)
	}
	f, err := s.spool()
	if err != nil {
		digest, _ := s.layer.Digest() // known, since somebody has seen the entries
		return nil, fmt.Errorf("layer %s: %w", digest, err)
	}
	s.path = f.Name()
	return f, nil
}

func (s *spooledLayer) spool() (*os.File, error) {
	stream, err := s.unpack()
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	f, err := os.CreateTemp(s.dir, "base-")
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(f, stream); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// section is a file's content in a layer.
type section struct {
	layer     *spooledLayer
	off, size int64 // bytes of the uncompressed stream
}

// Open implements [rootfs.Content].
func (s section) Open() (io.ReadCloser, error) {
	f, err := s.layer.open()
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, s.off, s.size), f}, nil
}
