package image

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/run"
)

// Store is the image store of docker or podman on this machine.
type Store struct {
	Runner run.Runner
	Tool   string // docker, podman, or a path
}

// answerTime is how long a store may take to say that it is there.
const answerTime = 5 * time.Second

// Answers returns nil when the tool is there and its daemon, if it has one,
// answers.
func (s Store) Answers(ctx context.Context) error {
	if _, err := s.Runner.Find(s.Tool); err != nil {
		return fmt.Errorf("%s: not on PATH", s.Tool)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	// Not info, which says last that it could not print, rather than why.
	_, err := run.Output(ctx, s.Runner, run.Cmd{Name: s.Tool, Args: []string{"version"}, Without: Secret, Reads: true})
	return err
}

// Load puts img into the store under ref. It is sent as a docker archive: that
// is what every version of both tools takes, while Docker 20.10 takes no OCI
// layout, and cannot unpack zstd.
func (s Store) Load(ctx context.Context, ref string, img v1.Image) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return fmt.Errorf("load %s: %w", ref, err)
	}
	r, w := io.Pipe()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		err := tarball.Write(tag, loadable{img}, w)
		w.CloseWithError(err)
		return err
	})
	group.Go(func() error {
		_, err := run.Output(ctx, s.Runner, s.LoadCommand(r))
		r.CloseWithError(io.ErrClosedPipe)
		return err
	})
	if err := group.Wait(); err != nil {
		return fmt.Errorf("load %s: %w", ref, err)
	}
	return nil
}

// LoadCommand is what takes an archive in.
func (s Store) LoadCommand(archive io.Reader) run.Cmd {
	return run.Cmd{Name: s.Tool, Args: []string{"load", "--quiet"}, Stdin: archive, Without: Secret}
}

// loadable is an image whose zstd layers are not compressed.
type loadable struct{ v1.Image }

// Layers implements [v1.Image].
func (l loadable) Layers() ([]v1.Layer, error) {
	have, err := l.Image.Layers()
	if err != nil {
		return nil, err
	}
	layers := slices.Clone(have)
	for i, layer := range layers {
		t, err := layer.MediaType()
		if err != nil {
			return nil, err
		}
		if t == types.OCILayerZStd || t == dockerZstd {
			layers[i] = unpackedLayer{layer}
		}
	}
	return layers, nil
}

// unpackedLayer is a layer of which no compressed form is handed out.
type unpackedLayer struct{ v1.Layer }

// Compressed implements [v1.Layer].
func (u unpackedLayer) Compressed() (io.ReadCloser, error) { return u.Uncompressed() }

// Size is that of the stream, in bytes: it has to be known before it is sent, so
// the layer is unpacked twice rather than kept.
func (u unpackedLayer) Size() (int64, error) {
	in, err := u.Uncompressed()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	return io.Copy(io.Discard, in)
}

// MediaType implements [v1.Layer].
func (u unpackedLayer) MediaType() (types.MediaType, error) {
	return types.DockerUncompressedLayer, nil
}
