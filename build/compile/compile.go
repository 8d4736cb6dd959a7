// Package compile runs the go command for every binary of a plan, in parallel,
// and reports every failure.
//
// One go command builds all commands of a module for a platform into a directory
// that is kept, where it finds its own results the next time and links only what
// changed. From there each is hard-linked to its final name, which therefore
// never holds half a file, nor one that was not checked.
package compile

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/files"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

// Options say how to compile. The zero value compiles static binaries for one
// platform after the other, without version, and checks nothing.
type Options struct {
	Root string // absolute directory of the repository
	Keep string // absolute directory for results between runs; best on the file system of the binaries, outside every build context
	Jobs int    // go commands at once; 0 is the number of CPUs

	LDFlags string // as the go command splits them: quotes around whole words
	GoFlags string // GOFLAGS; "" leaves the caller's
	CGO     bool
	CC      map[platform.Platform]string // C compiler per platform, with CGO

	VersionPkg string // package whose Version the linker sets; "" is none
	Version    string // to this; "" and "latest" are none

	Disk files.Disk // a dry run's tells of the binaries; the go commands are r's to tell

	Check func(path string, p platform.Platform) error   // judges each file before it gets its final name; nil accepts
	Start func(platform.Platform, []string) (end func()) // called for each go command with its commands; end, deferred, after it; may be nil
	Event func(Event)                                    // called for each binary in place, by one goroutine at a time; may be nil
}

// Event says that a binary is in place.
type Event struct {
	Binary   plan.Binary
	State    State
	Duration time.Duration // of the go command, which builds several at once
	Inode    files.Inode   // of the file as it is now
	Made     files.Inode   // the same, or what it was when the go command had made these bytes
	Output   string        // what that wrote though it succeeded, e.g. a C compiler's warnings; on the first event of each
}

// State says what happened to a binary.
type State string

// Unchanged binaries were up to date: neither linked nor touched.
const (
	Built     State = "built"
	Unchanged State = "unchanged"
)

// Run compiles binaries to their Path and Also below o.Root, with mode 0755.
// Nothing else there is changed. The error joins every failure: first what the
// go command says, in the order of binaries, what it says for several platforms
// being one [*plan.GoError]; then what is wrong with single binaries, in order.
// What could be built is in place regardless. When ctx ends, the error is its
// cause, and no name holds half a file.
func Run(ctx context.Context, r run.Runner, binaries []plan.Binary, o Options) error {
	b := builder{Options: o, runner: r}
	var err error
	if b.ldflags, err = ldflags(o); err != nil {
		return err
	}
	if err := errors.Join(needCompilers(binaries, o), distinct(binaries)); err != nil {
		return err
	}
	if err := b.keepOut(); err != nil {
		return err
	}
	groups := group(binaries, o)
	share(groups, jobs(o.Jobs), runtime.GOMAXPROCS(0))
	results := make([]result, len(groups))
	var work errgroup.Group
	work.SetLimit(jobs(o.Jobs))
	for i, g := range groups {
		work.Go(func() error {
			results[i] = b.build(ctx, g)
			return nil
		})
	}
	_ = work.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return report(results)
}

func jobs(n int) int {
	if n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// builder is one run.
type builder struct {
	Options
	runner  run.Runner
	ldflags string

	mu sync.Mutex // held while Event is called
}

// result is what became of a group.
type result struct {
	group batch
	said  []said  // what failing go commands wrote
	errs  []error // of single binaries, in order
}

// build makes one group and puts what was made in place.
func (b *builder) build(ctx context.Context, g batch) result {
	res := result{group: g}
	if ctx.Err() != nil {
		return res
	}
	if b.Disk.DryRun() {
		res.errs = b.foretell(ctx, g)
		return res
	}
	kept, err := open(filepath.Join(b.Keep, g.key), g.files())
	if err != nil {
		res.errs = append(res.errs, err)
		return res
	}
	defer kept.close()
	if b.Start != nil {
		defer b.Start(g.platform, g.commands())()
	}
	start := time.Now()
	output, goErr := b.goBuild(ctx, g, kept.dir)
	end := ended(ctx, goErr)
	if end != succeeded {
		res.said = []said{{group: g, text: output, err: goErr}}
	}
	if end == failed {
		res.said = b.explain(ctx, res.said[0], kept.dir)
		for _, s := range res.said {
			end = max(end, ended(ctx, s.err))
		}
	}
	event := Event{Duration: time.Since(start)}
	if end == succeeded {
		event.Output = output
	}
	fresh := kept.settle(end)
	for i, bin := range g.binaries {
		if ctx.Err() != nil {
			break
		}
		state, ok := fresh[g.file(i)]
		if !ok && end == succeeded {
			res.errs = append(res.errs, &noProgram{bin})
		}
		if !ok {
			continue
		}
		if err := b.place(kept.path(g.file(i)), bin); err != nil {
			res.errs = append(res.errs, err)
			continue
		}
		event.Binary, event.State = bin, state
		event.Inode, event.Made = kept.settled(g.file(i), state)
		b.event(event)
		event.Output = ""
	}
	if err := kept.save(); err != nil {
		res.errs = append(res.errs, err)
	}
	return res
}

func ended(ctx context.Context, err error) outcome {
	var exit *run.ExitError
	switch {
	case ctx.Err() != nil:
		return killed
	case err == nil:
		return succeeded
	case errors.As(err, &exit) && exit.Code > 0:
		return failed
	}
	return killed
}

func (b *builder) event(e Event) {
	if b.Event != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.Event(e)
	}
}
