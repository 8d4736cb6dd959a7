package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// blobs keeps blobs in files named after their digests. Unlike
// go-containerregistry's own handler it does not read a blob through to say
// that it is there, and leaves no temporary files behind. All repositories share
// them, so no client can delete one.
type blobs struct{ dir string }

const uploading = "upload-"

// openBlobs removes what uploads of an earlier process left.
func openBlobs(dir string) (*blobs, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), uploading) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return &blobs{dir}, nil
}

func (b *blobs) path(h v1.Hash) string { return filepath.Join(b.dir, h.Algorithm, h.Hex) }

// absent is what the handler above takes for a 404.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return registry.ErrNotFound
	}
	return err
}

// Stat implements registry.BlobStatHandler.
func (b *blobs) Stat(_ context.Context, _ string, h v1.Hash) (int64, error) {
	info, err := os.Stat(b.path(h))
	if err != nil {
		return 0, absent(err)
	}
	return info.Size(), nil
}

// Get implements registry.BlobHandler.
func (b *blobs) Get(_ context.Context, _ string, h v1.Hash) (io.ReadCloser, error) {
	f, err := os.Open(b.path(h))
	if err != nil {
		return nil, absent(err)
	}
	return f, nil
}

// Put implements registry.BlobPutHandler. Reading rc fails at its end when the
// content is not h's, so that nothing wrong gets a name.
func (b *blobs) Put(_ context.Context, _ string, h v1.Hash, rc io.ReadCloser) error {
	defer rc.Close()
	if err := os.MkdirAll(filepath.Dir(b.path(h)), 0o755); err != nil {
		return err
	}
	return replace(b.path(h), b.dir, func(w io.Writer) error {
		_, err := io.Copy(w, rc)
		return err
	})
}

// replace gives path the content that write writes, all of it or none, by way
// of a temporary file in dir, which is on the same file system. It returns when
// content and name are on the disk.
func replace(path, dir string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(dir, uploading)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir puts the names in a directory on the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
