package image

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
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
	_, err := run.Output(ctx, s.Runner, run.Cmd{Name: s.Tool, Args: []string{"info"}})
	return err
}

// Load puts img into the store under ref. It is sent as a docker archive: that
// is what every version of both tools takes, while Docker 20.10 takes no OCI
// layout.
func (s Store) Load(ctx context.Context, ref string, img v1.Image) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return fmt.Errorf("load %s: %w", ref, err)
	}
	r, w := io.Pipe()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		err := tarball.Write(tag, img, w)
		w.CloseWithError(err)
		return err
	})
	group.Go(func() error {
		_, err := run.Output(ctx, s.Runner, run.Cmd{Name: s.Tool, Args: []string{"load", "--quiet"}, Stdin: r})
		r.CloseWithError(io.ErrClosedPipe)
		return err
	})
	if err := group.Wait(); err != nil {
		return fmt.Errorf("load %s: %w", ref, err)
	}
	return nil
}
