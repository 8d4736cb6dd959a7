// Package build is archmage's data path, a method of [Project] per verb:
//
//	settings + repository → plan.Facts → plan.Plan → legs
//	Dockerfile × platform → dockerfile.Evaluate → recipe → verify
//	recipe → binaries → compile → bin/ → audit.Binary
//	recipe + bin/ + base → image.Builder → v1.Image → registry
//	legs → publish.Manifest → one index per image → tags
//
// Each stage is a package below this one and knows nothing of the others; what
// passes between them is data.
package build

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/archmage-go/archmage/build/cache"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/files"
	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/run"
)

// Project is one repository with its settings. Its methods are the verbs; they
// write results to the console and return what went wrong, for [ExitCode].
// [Project.Close] ends it.
type Project struct {
	*config.Settings
	runner  run.Runner
	console *console.Console
	sent    *sent
	client  *registry.Client
	disk    files.Disk       // changes every file that outlasts the run
	dry     *registry.DryRun // nil: registries and layouts are written

	cacheNote sync.Once // says why nothing is remembered
	kept      bool      // compiled programs, by this process

	// Of what this run compiled; compile tells one at a time.
	compiledNow []console.Outcome           // for the summary
	made        map[files.Inode]files.Inode // see [image.Blobs]
}

// Open reads and checks the settings of a repository. Nothing else is done yet:
// no file is written and no registry is asked.
func Open(ctx context.Context, src config.Source, c *console.Console) (*Project, error) {
	if info, err := os.Stat(filepath.Join(src.Root, ".")); err != nil || !info.IsDir() {
		return nil, Usage("", "%s: no such directory", src.Root)
	}
	if err := speak(c, src); err != nil {
		return nil, err
	}
	s, err := config.Load(ctx, src)
	if err != nil {
		return nil, err
	}
	if err := checkSeverities(s); err != nil {
		return nil, err
	}
	for _, note := range s.Notes {
		c.Note("%s", note)
	}
	if s.Force {
		c.Note("IMAGE_FORCE is set: what is otherwise refused is overwritten")
	}
	p := &Project{Settings: s, runner: src.Runner, console: c, sent: &sent{legs: map[string][]*sending{}}, made: map[files.Inode]files.Inode{}}
	if s.DryRun {
		p.rehearse()
	}
	o := p.clientOptions()
	o.Progress = p.sent.tell
	o.Facts = cache.Store{Dir: p.cacheDir(cacheBases), Limit: cacheLimit(cacheBases), ReadOnly: s.DryRun}
	p.client = registry.New(o)
	return p, nil
}

// requests is how many go to a registry at once: what they wait for is the
// network, whatever the number of CPUs is. Dry runs tell one after the other.
func requests(s *config.Settings) int {
	if s.DryRun {
		return 1
	}
	return max(s.Jobs, 8)
}

// speak makes the console as it is wanted, before anything is said: what is
// wrong with other settings, too.
func speak(c *console.Console, src config.Source) error {
	s, err := config.Console(src)
	if err != nil {
		return nil // Load says so, and what else is wrong
	}
	if err := c.Configure(console.Options{Progress: s.Progress, Quiet: s.Quiet}); err != nil {
		return config.Errorf(s.From["IMAGE_PROGRESS"], "leave it at auto, or write plain or json", "tty: %v", err)
	}
	return nil
}

func (p *Project) clientOptions() registry.Options {
	o := registry.Options{
		Auth:     registry.Auth(p.Auth),
		RetryMax: p.RetryMax, RetryDelay: p.RetryDelay, Jobs: requests(p.Settings),
		Notify: func(w registry.Wait) { p.console.Note("%s", w) },
		DryRun: p.dry,
	}
	for _, m := range p.Mirrors {
		o.Mirrors = append(o.Mirrors, registry.Mirror(m))
	}
	return o
}

// needVersion refuses to guess the version of what is built or published.
func (p *Project) needVersion() error {
	if p.NoVersion == "" {
		return nil
	}
	return config.Errorf("VERSION", "set it, e.g. VERSION=v1.2.3", "git cannot say: %s", p.NoVersion)
}

// path is a slash path of the repository as the operating system spells it.
func (p *Project) path(slash string) string {
	return filepath.Join(p.Root, filepath.FromSlash(slash))
}

// fsys is the repository as a file system.
func (p *Project) fsys() (*os.Root, error) { return os.OpenRoot(p.Root) }
