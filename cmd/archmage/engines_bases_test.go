//go:build engines

package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/compression"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// pushBases pushes what scripts build on, and returns where Docker Hub's images
// are read instead: shell:1, which is a POSIX shell for amd64 and arm64, and
// golang:1.26, which is this machine's Go and the same shell. Both are named
// after their content, so that engines remember them from one run to the next.
func pushBases(ctx context.Context, host string) (hub string, err error) {
	dir, err := os.MkdirTemp("", "bases-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	var shells []mutate.IndexAddendum
	for _, arch := range []string{"amd64", "arm64"} {
		img, err := shellBase(ctx, filepath.Join(dir, arch), arch)
		if err != nil {
			return "", err
		}
		shells = append(shells, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	index := mutate.AppendManifests(empty.Index, shells...)
	digest, err := index.Digest()
	if err != nil {
		return "", err
	}
	hub = host + "/bases/" + strings.ReplaceAll(runtime.Version(), ".", "-") + "-" + digest.Hex[:12]
	shell, golang := hub+"/library/shell:1", hub+"/library/golang:1.26"
	for _, add := range shells {
		if add.Platform.Architecture == runtime.GOARCH {
			err = errors.Join(pushIndex(shell, index), pushGolang(golang, add.Add.(v1.Image)))
		}
	}
	return hub, err
}

func pushIndex(at string, index v1.ImageIndex) error {
	ref, err := name.ParseReference(at)
	if err != nil {
		return err
	}
	return remote.WriteIndex(ref, index)
}

// pushGolang adds this machine's Go to the shell, unless that was done before:
// it takes seconds.
func pushGolang(at string, shell v1.Image) error {
	ref, err := name.ParseReference(at)
	if err != nil {
		return err
	}
	if _, err := remote.Head(ref); err == nil {
		return nil
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	root := strings.TrimSpace(string(goroot))
	l, err := layerOf(func(w *tar.Writer) error { return addTree(w, root, "usr/local/go") })
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(shell, l)
	if err != nil {
		return err
	}
	return remote.Write(ref, img)
}

// shellBase is an image with a shell written in Go, which needs no libraries.
func shellBase(ctx context.Context, file, arch string) (v1.Image, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-modfile=../../scripts/engines.mod", "-mod=readonly",
		"-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, "mvdan.cc/sh/v3/cmd/gosh")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build a shell: %w: %s", err, out)
	}
	l, err := layerOf(func(w *tar.Writer) error {
		for _, h := range []tar.Header{
			{Name: "etc/", Mode: 0o755},
			{Name: "tmp/", Mode: 0o1777},
			{Name: "root/", Mode: 0o700},
			{Name: "bin/", Mode: 0o755},
		} {
			h.Typeflag = tar.TypeDir
			if err := w.WriteHeader(&h); err != nil {
				return err
			}
		}
		if err := w.WriteHeader(&tar.Header{Name: "etc/passwd", Mode: 0o644, Size: int64(len(passwd))}); err != nil {
			return err
		}
		if _, err := io.WriteString(w, passwd); err != nil {
			return err
		}
		return addFile(w, file, "bin/sh", 0o755)
	})
	if err != nil {
		return nil, err
	}
	img, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: "linux", Architecture: arch, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{Env: []string{"PATH=/usr/local/go/bin:/usr/bin:/bin"}},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(img, mutate.Addendum{Layer: l, History: v1.History{CreatedBy: "a shell"}})
}

// addTree adds what of a GOROOT compiles programs.
func addTree(w *tar.Writer, from, to string) error {
	unused := map[string]bool{"api": true, "doc": true, "misc": true, "test": true, "lib": true, "src/cmd": true}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case unused[rel] || d.IsDir() && d.Name() == "testdata":
			return filepath.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return addFile(w, path, to+"/"+rel, int64(info.Mode().Perm()))
	})
}

func addFile(w *tar.Writer, from, to string, mode int64) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: to, Mode: mode, Size: int64(len(data))}); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// layerOf is a layer of the entries that fill writes. Nothing in it has a time.
func layerOf(fill func(*tar.Writer) error) (v1.Layer, error) {
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		r, out := io.Pipe()
		go func() {
			w := tar.NewWriter(out)
			out.CloseWithError(errors.Join(fill(w), w.Close()))
		}()
		return r, nil
	}, tarball.WithCompression(compression.GZip), tarball.WithCompressionLevel(1))
}
