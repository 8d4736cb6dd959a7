package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/rootfs"
)

// baseSnapshot is a base image. Its layers are read when its tree is asked for,
// and of them the headers, which are remembered for the next run; the content of
// a file only when it is opened.
func baseSnapshot(img v1.Image, op dockerfile.Op, blobs *Blobs) (snapshot, error) {
	layers, err := img.Layers()
	if err != nil {
		return snapshot{}, err
	}
	description := "pulled from " + op.Base.Ref + "@" + op.Base.Digest
	var s snapshot
	for _, l := range layers {
		spooled := &spooledLayer{layer: l, dir: blobs.dir, indexes: blobs.indexes}
		s.layers = append(s.layers, pending{description: description, base: l, entries: spooled.entries})
	}
	s.fold = snapshot{}.stack(s).fold
	return s, nil
}

// spooledLayer reads a base's layer: the headers once, and the uncompressed
// stream into a file when somebody opens a file of it.
type spooledLayer struct {
	layer   v1.Layer
	dir     string
	indexes Indexes

	mu    sync.Mutex
	path  string // of the uncompressed stream; "" until it is needed
	index []rootfs.Entry
}

// entries are what the layer lists.
func (s *spooledLayer) entries(ctx context.Context) ([]rootfs.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != nil {
		return s.index, nil
	}
	digest, err := s.layer.Digest()
	if err != nil {
		return nil, err
	}
	index, known := s.indexes.get(digest)
	if !known {
		if index, err = s.read(ctx); err != nil {
			return nil, fmt.Errorf("layer %s: %w", digest, err)
		}
		s.indexes.put(digest, index)
	}
	s.index = rootfs.Bind(index, func(off, size int64) rootfs.Content { return section{s, off, size} })
	return s.index, nil
}

// read reads the headers, and with them the whole layer.
func (s *spooledLayer) read(ctx context.Context) ([]rootfs.Entry, error) {
	stream, err := s.layer.Uncompressed()
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	return rootfs.ReadLayer(reader{ctx, stream}, nil)
}

// open is the uncompressed stream as a file.
func (s *spooledLayer) open() (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path != "" {
		return os.Open(s.path)
	}
	stream, err := s.layer.Uncompressed()
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
	s.path = f.Name()
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

// reader ends with its context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}
