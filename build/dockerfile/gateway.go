package dockerfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/moby/buildkit/frontend/gateway/client"
	gwpb "github.com/moby/buildkit/frontend/gateway/pb"
	"github.com/moby/buildkit/solver/pb"
	"github.com/moby/buildkit/util/apicaps"
	digest "github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
	fstypes "github.com/tonistiigi/fsutil/types"
)

// gateway stands in for the daemon that the front end talks to: it reads the
// Dockerfile and the ignore file, asks a BaseResolver for images, and refuses
// all else.
type gateway struct {
	opts       client.BuildOpts
	dockerfile *directory // that the Dockerfile's path begins in
	context    *directory
	bases      *bases
}

// allCaps is everything that BuildKit can do; with less, COPY --link becomes a
// plain copy. It is only read, and takes a tenth of an evaluation to make.
var allCaps = sync.OnceValue(func() apicaps.CapSet { return pb.Caps.CapSet(pb.Caps.All()) })

var errDaemon = errors.New("needs a BuildKit daemon")

func newGateway(e *evaluation) (*gateway, error) {
	dockerfile, err := openDirectory(e.in.Root)
	if err != nil {
		return nil, err
	}
	buildContext, err := openDirectory(e.in.Context)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("context: %w", err), dockerfile.root.Close())
	}
	dockerfile.over = e.in.Overlay
	buildContext.over = e.in.overContext()
	return &gateway{
		dockerfile: dockerfile,
		context:    buildContext,
		bases:      e.bases,
		opts: client.BuildOpts{
			Opts:    e.options(),
			LLBCaps: allCaps(),
			Caps:    gwpb.Caps.CapSet(nil),
			Workers: []client.WorkerInfo{{Platforms: []ocispecs.Platform{spec(e.in.BuildPlatform)}}},
		},
	}, nil
}

func (g *gateway) close() {
	_ = g.dockerfile.root.Close() // both were only read from
	_ = g.context.root.Close()
}

func (g *gateway) BuildOpts() client.BuildOpts { return g.opts }

// Solve is asked for two directories alone: the one with the Dockerfile, and
// the context, for its ignore file.
func (g *gateway) Solve(_ context.Context, req client.SolveRequest) (*client.Result, error) {
	res := client.NewResult()
	for _, data := range req.Definition.GetDef() {
		var op pb.Op
		if err := op.UnmarshalVT(data); err != nil {
			return nil, err
		}
		switch op.GetSource().GetIdentifier() {
		case "local://" + dockerui.DefaultLocalNameDockerfile:
			res.SetRef(g.dockerfile)
		case "local://" + dockerui.DefaultLocalNameContext:
			res.SetRef(g.context)
		}
	}
	if res.Ref == nil {
		return nil, errDaemon
	}
	return res, nil
}

func (g *gateway) ResolveImageConfig(ctx context.Context, ref string, opt sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	return g.bases.ResolveImageConfig(ctx, ref, opt)
}

func (g *gateway) ResolveSourceMetadata(context.Context, *pb.SourceOp, sourceresolver.Opt) (*sourceresolver.MetaResponse, error) {
	return nil, errDaemon
}

func (g *gateway) Inputs(context.Context) (map[string]llb.State, error) { return nil, errDaemon }

func (g *gateway) NewContainer(context.Context, client.NewContainerRequest) (client.Container, error) {
	return nil, errDaemon
}

func (g *gateway) Warn(context.Context, digest.Digest, string, client.WarnOpts) error { return nil }

// directory is a solved reference whose tree is a local directory.
type directory struct {
	root *os.Root
	over map[string][]byte // by clean slash path: what counts instead of the file
	read map[string][]byte // what was read, so that one can tell which ignore file was
}

func openDirectory(dir string) (*directory, error) {
	root, err := os.OpenRoot(dir)
	return &directory{root: root, read: map[string][]byte{}}, err
}

func (d *directory) ToState() (llb.State, error) { return llb.State{}, errDaemon }

func (d *directory) Evaluate(context.Context) error { return nil }

// ReadFile implements client.Reference. A device or pipe is refused before it
// is opened, which might block.
func (d *directory) ReadFile(_ context.Context, req client.ReadRequest) ([]byte, error) {
	if data, ok := d.over[path.Clean(req.Filename)]; ok {
		d.read[req.Filename] = data
		return data, nil
	}
	name := filepath.FromSlash(req.Filename)
	info, err := d.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", req.Filename)
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if req.Range != nil {
		r = io.NewSectionReader(f, int64(req.Range.Offset), int64(req.Range.Length))
	}
	data, err := io.ReadAll(r)
	if err == nil {
		d.read[req.Filename] = data
	}
	return data, err
}

func (d *directory) StatFile(_ context.Context, req client.StatRequest) (*fstypes.Stat, error) {
	info, err := d.root.Stat(filepath.FromSlash(req.Path))
	if err != nil {
		return nil, err
	}
	return &fstypes.Stat{Path: req.Path, Size: info.Size(), Mode: uint32(info.Mode())}, nil
}

func (d *directory) ReadDir(context.Context, client.ReadDirRequest) ([]*fstypes.Stat, error) {
	return nil, errDaemon
}
