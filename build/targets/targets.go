// Package targets holds archmage's verbs as Mage targets. A magefile gets them
// with
//
//	//mage:import
//	_ "github.com/archmage-go/archmage/build/targets"
//
// Settings come from the environment and archmage.yaml, as for the command; a
// target that fails makes mage exit with the same code as the command would.
package targets

import (
	"context"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/run"
)

// Plan prints what would be built, who builds it, and why.
func Plan(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Plan(ctx, build.PlanOptions{}) })
}

// Verify finds Dockerfiles that would put a wrong binary into an image.
func Verify(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Verify(ctx, build.VerifyOptions{}) })
}

// Compile cross-compiles every command to bin/<name>-<os>-<arch>.
func Compile(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Compile(ctx) })
}

// Image builds every image for every platform, to dist/ or with PUSH=true to REGISTRY.
func Image(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Image(ctx) })
}

// Manifest joins the images of all platforms under VERSION and IMAGE_TAGS.
func Manifest(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Manifest(ctx, build.PublishOptions{}) })
}

// Promote moves IMAGE_TAGS and VERSION to what SOURCE_VERSION names.
func Promote(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Promote(ctx, build.PublishOptions{}) })
}

// Inspect prints platforms, digests and revision of what is published under VERSION.
func Inspect(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Inspect(ctx, build.InspectOptions{}) })
}

// Audit finds images in dist/ that hold something else than they say.
func Audit(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Audit(ctx, build.AuditOptions{}) })
}

// Binaries compiles release binaries and their checksums to dist/release.
func Binaries(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Binaries(ctx) })
}

// Clean removes what archmage made here, and nothing else.
func Clean(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Clean(ctx) })
}

// Version prints archmage's version.
func Version() { console.Std().Result(build.ReadVersion().String()) }

// do opens the repository in the working directory and runs one verb on it.
func do(ctx context.Context, verb func(*build.Project) error) error {
	p, err := build.Open(ctx, config.Source{Runner: run.OS{}}, console.Std())
	if err == nil {
		err = verb(p)
	}
	if err == nil {
		return nil
	}
	return &failure{err}
}

// failure tells mage the exit code, and prints as the command would.
type failure struct{ err error }

func (f *failure) Error() string   { return console.Text(f.err) }
func (f *failure) Unwrap() error   { return f.err }
func (f *failure) ExitStatus() int { return build.ExitCode(f.err) }
