package parity

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/archmage-go/archmage/build/run"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// BuildKit builds with a running buildkitd, through the buildx and the builder
// that scripts/engines env sets.
type BuildKit struct {
	Runner run.Runner
}

// Refusal says that BuildKit worked, and did not want to build.
type Refusal struct{ Said string }

func (r *Refusal) Error() string { return r.Said }

// Build builds r on several platforms at once into an OCI layout in dir, which
// must not exist, and returns the images in the order of platforms. r.Platform
// does not count.
//
// Nothing is taken from BuildKit's cache: the cache knows files by content, not
// by hard links and times, and would give one case the files of another. buildx
// rather than buildctl, because it names contexts, by the last element of their
// path: BuildKit keeps the last context of a name, and r.Context's has to be its
// own, or a case could see what another one left.
func (b BuildKit) Build(ctx context.Context, r Request, platforms []string, dir string) ([]v1.Image, error) {
	args := []string{
		"build", "--progress=plain", "--no-cache", "--provenance=false",
		"--file=" + filepath.Join(r.Context, filepath.FromSlash(r.Dockerfile)),
		"--platform=" + strings.Join(platforms, ","),
		"--output=type=oci,tar=false,dest=" + dir,
	}
	if r.Target != "" {
		args = append(args, "--target="+r.Target)
	}
	for _, kv := range r.Args {
		args = append(args, "--build-arg="+kv)
	}
	for _, kv := range r.Labels {
		args = append(args, "--label="+kv)
	}
	_, err := run.Output(ctx, b.Runner, run.Cmd{
		Name: "buildx", Args: append(args, r.Context),
		Env: []string{"SOURCE_DATE_EPOCH="}, // buildx makes a build argument of it
	})
	if err != nil {
		return nil, classify(err)
	}
	images, err := readLayout(dir, platforms)
	if err != nil {
		return nil, fmt.Errorf("read what BuildKit wrote: %w", err)
	}
	return images, nil
}

// classify tells a refusal from a BuildKit that cannot be asked.
func classify(err error) error {
	var exit *run.ExitError
	_, said, found := strings.Cut(err.Error(), "ERROR: failed to build: ")
	if !errors.As(err, &exit) || !found {
		return fmt.Errorf("run buildx: %w", err)
	}
	for _, broken := range []string{"connection error", "Unavailable", "transport is closing", "no space left"} {
		if strings.Contains(said, broken) {
			return fmt.Errorf("run buildx: %w", err)
		}
	}
	return &Refusal{Said: strings.TrimSpace(said)}
}

// readLayout finds each platform's image. One platform is a bare manifest,
// several are an index.
func readLayout(dir string, platforms []string) ([]v1.Image, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(m.Manifests) == 1 && m.Manifests[0].MediaType.IsIndex() {
		if index, err = index.ImageIndex(m.Manifests[0].Digest); err != nil {
			return nil, err
		}
		if m, err = index.IndexManifest(); err != nil {
			return nil, err
		}
	}
	images := make([]v1.Image, len(platforms))
	for i, p := range platforms {
		for _, d := range m.Manifests {
			if len(platforms) > 1 && (d.Platform == nil || d.Platform.String() != p) {
				continue
			}
			if images[i], err = index.Image(d.Digest); err != nil {
				return nil, err
			}
		}
		if images[i] == nil {
			return nil, fmt.Errorf("no image for %s", p)
		}
	}
	return images, nil
}
