package image

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/run"
)

// Buildx builds with docker buildx, on the builder that the user has: its own
// dockerd, a container, a remote buildkitd, or Kubernetes. What it makes is not
// reproducible.
type Buildx struct {
	Engine
	Tool    string // docker
	Builder string // BUILDX_BUILDER; "" is the current one
	Driver  string // of that builder; "docker" cannot export image layouts
}

// Build implements [Builder]: one build per leg, without provenance, so that
// its tag names a plain manifest.
func (b Buildx) Build(ctx context.Context, r Request) (v1.Image, error) {
	dir, err := b.Blobs.temp("buildx-")
	if err != nil {
		return nil, err
	}
	file, err := r.ignoring(dir)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "out")
	name := "archmage.invalid/leg:" + filepath.Base(dir)
	args := append(b.args(r), pinned(r)...)
	cmd := run.Cmd{Name: b.Tool, Env: epochEnv(r)}
	byHand := cmd
	byHand.Args = append(args[:len(args):len(args)], "--file", r.dockerfile(), r.Context)
	cmd.Args = append(args, "--file", file, "--output", b.output(r, out, name), r.Context)
	if err := b.run(ctx, "buildx", r, cmd, byHand); err != nil {
		return nil, err
	}
	if b.Driver == "docker" {
		return b.save(ctx, r, name, out)
	}
	if b.DryRun {
		return nil, ErrDryRun
	}
	img, err := readLayout(out)
	if err != nil {
		return nil, fmt.Errorf("buildx: %w", err)
	}
	return b.adopt(ctx, r, img)
}

// args are those of any build of this leg, wherever it goes.
func (b Buildx) args(r Request) []string {
	args := []string{"buildx", "build", "--progress", "plain", "--provenance=false", "--sbom=false"}
	if b.Builder != "" {
		args = append(args, "--builder", b.Builder)
	}
	return append(append(args, r.args()...), b.cache(r)...)
}

// output says how the image leaves the builder.
func (b Buildx) output(r Request, out, name string) string {
	if b.Driver == "docker" {
		return "type=docker,name=" + name
	}
	spec := fmt.Sprintf("type=oci,tar=false,dest=%s,oci-mediatypes=%t", csv(out), !r.Format.Docker)
	if r.Format.Zstd {
		spec += ",compression=zstd"
	}
	return spec
}

// csv quotes a value that may hold a comma.
func csv(value string) string {
	if strings.ContainsAny(value, ",\"") {
		return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
	}
	return value
}

// cache reads and writes a cache per architecture in the registry. What it says
// never decides whether a build succeeds.
func (b Buildx) cache(r Request) []string {
	if r.Cache == "" || b.Driver == "docker" {
		return nil
	}
	args := []string{"--cache-from", "type=registry,ref=" + r.Cache}
	if r.WriteCache {
		args = append(args, "--cache-to", "type=registry,mode=max,ignore-error=true,ref="+r.Cache)
	}
	return args
}

func epochEnv(r Request) []string {
	if r.Epoch == nil {
		return nil
	}
	return []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.Epoch.Unix())}
}

// save takes an image out of dockerd's own store, as an archive, and removes it
// there.
func (b Buildx) save(ctx context.Context, r Request, name, out string) (v1.Image, error) {
	f, err := os.Create(out)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	save := run.Cmd{Name: b.Tool, Args: []string{"image", "save", name}, Stdout: f}
	if err := b.run(ctx, "buildx", r, save, save); err != nil {
		return nil, err
	}
	if _, err := run.Output(ctx, b.Runner, run.Cmd{Name: b.Tool, Args: []string{"image", "rm", name}, Without: Secret}); err != nil {
		return nil, err
	}
	if b.DryRun {
		return nil, ErrDryRun
	}
	return b.Blobs.fromArchive(ctx, r, out)
}
