package image

import (
	"context"
	"fmt"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/run"
)

// Buildah builds with buildah. What it makes is not reproducible.
type Buildah struct {
	Engine
}

// Build implements [Builder]. A Dockerfile with HEALTHCHECK, SHELL or ONBUILD is
// built in Docker's format, since buildah's OCI format drops them.
func (b Buildah) Build(ctx context.Context, r Request) (v1.Image, error) {
	if err := limits(r.Recipe, b.version(ctx)); err != nil {
		return nil, err
	}
	dir, err := b.Blobs.temp("buildah-")
	if err != nil {
		return nil, err
	}
	file, err := r.ignoring(dir)
	if err != nil {
		return nil, err
	}
	name := "localhost/archmage-leg:" + filepath.Base(dir)
	args := append([]string{"build", "--format", buildahFormat(r)}, append(r.args(), pinned(r)...)...)
	cmd := run.Cmd{Name: "buildah", Env: epochEnv(r)}
	byHand := cmd
	byHand.Args = append(args[:len(args):len(args)], "--file", r.dockerfile(), r.Context)
	if exists(file + ".dockerignore") {
		args = append(args, "--ignorefile", file+".dockerignore")
	}
	cmd.Args = append(args, "--file", file, "--tag", name, r.Context)
	if err := b.run(ctx, "buildah", r, cmd, byHand); err != nil {
		return nil, err
	}
	img, err := b.take(ctx, r, name, filepath.Join(dir, "out"))
	if err != nil {
		return nil, err
	}
	return b.adopt(ctx, r, img)
}

// take copies the image out of buildah's store, and removes it there. The
// directory form keeps the config as it is; an OCI layout would convert it.
func (b Buildah) take(ctx context.Context, r Request, name, out string) (v1.Image, error) {
	push := run.Cmd{Name: "buildah", Args: []string{"push", "--format", "v2s2", name, "dir:" + out}}
	if buildahFormat(r) == "oci" {
		push.Args[2] = "oci"
	}
	if err := b.run(ctx, "buildah", r, push, push); err != nil {
		return nil, err
	}
	if _, err := run.Output(ctx, b.Runner, run.Cmd{Name: "buildah", Args: []string{"rmi", name}, Without: Secret}); err != nil {
		return nil, err
	}
	if b.DryRun {
		return nil, ErrDryRun
	}
	img, err := readDir(out)
	if err != nil {
		return nil, fmt.Errorf("buildah: %w", err)
	}
	return img, nil
}

// buildahFormat is docker where OCI would lose what the Dockerfile says.
func buildahFormat(r Request) string {
	for _, key := range []string{"Healthcheck", "Shell", "OnBuild"} {
		if configHas(r.Recipe.Config, key) {
			return "docker"
		}
	}
	if r.Format.Docker {
		return "docker"
	}
	return "oci"
}
