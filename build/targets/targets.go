// Package targets holds archmage's verbs as Mage targets. A magefile gets them
// with
//
//	//mage:import
//	_ "github.com/archmage-go/archmage/build/targets"
//
// Settings come from the environment and archmage.yaml, as for the command. The
// flags of a verb are optional arguments of its target: mage plan -json, mage
// verify -fix. A target that fails makes mage exit with the same code as the
// command would.
package targets

import (
	"context"
	"strings"

	"github.com/archmage-go/archmage/build"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/run"
)

// Plan prints what would be built, who builds it, and why.
func Plan(ctx context.Context,
	json *bool, // print the whole plan as JSON
	github *bool, // print the jobs as the matrix of a GitHub workflow
	maxJobs *int, // group legs, of one runner each, into no more jobs than this
	missing *bool, // of the legs, only those that are not published yet
	verbose *bool, // also what was passed over, and why
	graph *string, // draw what comes from what: text or mermaid
) error {
	o := build.PlanOptions{JSON: is(json), GitHub: is(github), Missing: is(missing), Verbose: is(verbose), Graph: text(graph)}
	if maxJobs != nil {
		o.MaxJobs = *maxJobs
	}
	return do(ctx, func(p *build.Project) error { return p.Plan(ctx, o) })
}

// Verify finds Dockerfiles that would put a wrong binary into an image.
func Verify(ctx context.Context,
	fix *bool, // write what has one right answer, then judge
	dryRun *bool, // with fix: print a diff, write nothing
	format *string, // text, json, github or sarif
	strict *bool, // fail with warnings too
	pedantic *bool, // also what is only advice
	severity *string, // how rules count: Rule=off,Other=error; or warning
	bases *bool, // ask the registry for every base image too
) error {
	o := build.VerifyOptions{
		Format: text(format), Strict: is(strict), Pedantic: is(pedantic), Severity: list(severity),
		Bases: is(bases), Fix: is(fix), DryRun: is(dryRun),
	}
	return do(ctx, func(p *build.Project) error { return p.Verify(ctx, o) })
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
func Manifest(ctx context.Context,
	from *string, // copy the legs from repositories with this prefix
) error {
	return do(ctx, func(p *build.Project) error { return p.Manifest(ctx, build.PublishOptions{From: text(from)}) })
}

// Promote moves IMAGE_TAGS and VERSION to what SOURCE_VERSION names.
func Promote(ctx context.Context,
	from *string, // copy images from repositories with this prefix
	referrers *bool, // with from: copy signatures and attestations too
	ifNewest *bool, // leave a tag, with a note, where what it names is newer
) error {
	o := build.PublishOptions{From: text(from), Referrers: is(referrers), IfNewest: is(ifNewest)}
	return do(ctx, func(p *build.Project) error { return p.Promote(ctx, o) })
}

// Inspect prints platforms, digests and revision of what is published under VERSION.
func Inspect(ctx context.Context,
	ref *string, // this reference, instead of every image under VERSION
	json *bool, // print it as JSON
	revision *bool, // print the revision alone
) error {
	o := build.InspectOptions{Ref: text(ref), JSON: is(json), Revision: is(revision)}
	return do(ctx, func(p *build.Project) error { return p.Inspect(ctx, o) })
}

// Audit finds images, in dist/ or published, that hold something else than they say.
func Audit(ctx context.Context,
	refs *string, // these references, separated by commas, instead of all of dist/
	json *bool, // print what was found as JSON
	diff *bool, // say how the two references differ
) error {
	o := build.AuditOptions{Refs: list(refs), JSON: is(json), Diff: is(diff)}
	return do(ctx, func(p *build.Project) error { return p.Audit(ctx, o) })
}

// Binaries compiles release binaries and their checksums to dist/release.
func Binaries(ctx context.Context) error {
	return do(ctx, func(p *build.Project) error { return p.Binaries(ctx) })
}

// Init shows what a repository lacks to be built by archmage.
func Init(ctx context.Context,
	write *bool, // write it; not into files with uncommitted changes
	github *bool, // a release workflow too
) error {
	o := build.InitOptions{Write: is(write), GitHub: is(github)}
	return do(ctx, func(p *build.Project) error { return p.Init(ctx, o) })
}

// Clean removes what archmage made here, and nothing else.
func Clean(ctx context.Context,
	cache *bool, // instead, what archmage remembers between runs of any repository
) error {
	return do(ctx, func(p *build.Project) error { return p.Clean(ctx, build.CleanOptions{Cache: is(cache)}) })
}

// Version prints archmage's version.
func Version() { console.Std().Result(build.ReadVersion().String()) }

// An optional argument that was not given is nil.
func is(b *bool) bool { return b != nil && *b }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func list(s *string) []string {
	return strings.FieldsFunc(text(s), func(r rune) bool { return r == ',' })
}

// do opens the repository in the working directory and runs one verb on it.
func do(ctx context.Context, verb func(*build.Project) error) error {
	c := console.Std()
	defer c.Close() // for a panic too
	p, err := build.Open(ctx, config.Source{Runner: run.OS{}}, c)
	if err == nil {
		err = verb(p)
		p.Close()
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
