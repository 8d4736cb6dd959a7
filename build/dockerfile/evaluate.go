package dockerfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerui"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// Evaluate reads a Dockerfile and its ignore file and says what building it for
// one platform means. It starts nothing, writes nothing, reads nothing outside
// the context and asks no host but through in.Bases. Callers may run any number
// at once.
//
// What is wrong with the Dockerfile is an [*Error]; with several bases that
// cannot be resolved, an [errors.Join] of them in file order. The front end may
// panic on hostile input; that is an Error too.
func Evaluate(ctx context.Context, in Input) (r *Recipe, err error) {
	e := &evaluation{in: in}
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, &Error{File: e.in.Dockerfile, Cause: fmt.Sprintf("the front end gave up: %v", p)}
		}
	}()
	if err := e.check(); err != nil {
		return nil, err
	}
	e.bases = newBases(ctx, e.in.Bases)
	r, err = e.run(ctx)
	if err != nil && ctx.Err() != nil {
		cause := context.Cause(ctx)
		return nil, &Error{File: e.in.Dockerfile, Cause: cause.Error(), err: cause}
	}
	return r, err
}

// evaluation is one call of Evaluate, filled in from top to bottom.
type evaluation struct {
	in     Input
	bases  *bases
	text   text
	script *script
	graph  *graph
	target int // index of the stage to build

	mu       sync.Mutex // the front end warns from several goroutines
	warnings []Warning
}

func (e *evaluation) run(ctx context.Context) (*Recipe, error) {
	daemon, err := newGateway(e)
	if err != nil {
		return nil, &Error{File: e.in.Dockerfile, Cause: err.Error(), err: err}
	}
	defer daemon.close()
	bc, src, err := e.open(ctx, daemon)
	if err != nil {
		return nil, err
	}
	r := &Recipe{Dockerfile: e.in.Dockerfile, Platform: plain(spec(e.in.Platform)), Target: e.in.Target}
	if ref, at, ok := e.foreign(); ok {
		r.File = &File{Path: e.in.Dockerfile, Data: e.text.data}
		r.Syntax = ref
		return r.opaque(Op{Kind: KindFrontend, Name: ref, Ranges: at}), nil
	}
	if e.script, err = parse(e.in.Dockerfile, e.text); err != nil {
		return nil, e.fail(err)
	}
	r.File = e.script.file
	if err := e.lintOptions(bc); err != nil {
		return nil, e.fail(err)
	}
	if err := e.stages(); err != nil {
		return nil, err
	}
	r.Stage = e.target
	if r.Ignore, err = e.ignore(ctx, bc, daemon); err != nil {
		return nil, err
	}
	if !e.script.mayAddRemote() {
		if err = e.convert(ctx, bc, src, r); !errors.Is(err, errTrigger) {
			return r.orError(err)
		}
	}
	if op, ok := e.addOverSSH(); ok {
		return r.opaque(op), nil
	}
	return r.orError(e.convert(ctx, bc, src, r))
}

// opaque is r where only an engine can tell more.
func (r *Recipe) opaque(why Op) *Recipe {
	r.Ops, r.Result, r.Context = []Op{why}, 0, ContextUse{Whole: true}
	return r
}

func (r *Recipe) orError(err error) (*Recipe, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// open reads the Dockerfile as the front end does, which picks the ignore file
// beside it too.
func (e *evaluation) open(ctx context.Context, daemon *gateway) (*dockerui.Client, *dockerui.Source, error) {
	bc, err := dockerui.NewClient(daemon)
	if err != nil {
		return nil, nil, e.fail(err)
	}
	src, err := bc.ReadEntrypoint(ctx, "Dockerfile")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, &Error{File: e.in.Dockerfile, Cause: "no such file", hint: "looked in " + e.in.Root, err: fs.ErrNotExist}
	case err != nil:
		return nil, nil, e.fail(err)
	}
	e.text = newText(src.Data)
	return bc, src, nil
}

// stages finds the target, and what of the file is needed for it as far as that
// can be told without the bases.
func (e *evaluation) stages() error {
	e.graph = newGraph(e.script, e.in)
	at, ok := e.graph.target(e.in.Target)
	switch {
	case !ok && len(e.graph.nodes) == 0:
		return &Error{File: e.in.Dockerfile, Cause: "no FROM"}
	case !ok:
		hint := "the only stage has no name"
		if names := e.script.stageNames(); len(names) > 0 {
			hint = "stages: " + strings.Join(names, ", ")
		}
		return &Error{File: e.in.Dockerfile, Cause: fmt.Sprintf("no stage %q", e.in.Target), hint: hint}
	}
	if value, ok := e.graph.epoch(e.in.Args); !ok {
		return &Error{File: e.in.Dockerfile, Cause: fmt.Sprintf("%s=%s is no number of seconds", epochArg, value)}
	}
	e.target = at
	return nil
}

// convert runs the front end proper.
func (e *evaluation) convert(ctx context.Context, bc *dockerui.Client, src *dockerui.Source, r *Recipe) error {
	target, caps := spec(e.in.Platform), allCaps()
	res, err := dockerfile2llb.Dockerfile2LLB(ctx, src.Data, dockerfile2llb.ConvertOpt{
		Config: bc.Config, Client: bc, SourceMap: src.SourceMap, TargetPlatform: &target,
		MetaResolver: e.bases, LLBCaps: &caps, Warn: e.warn,
	})
	var def *llb.Definition
	if err == nil {
		def, err = res.State.Marshal(ctx)
	}
	if err != nil {
		return e.fail(err)
	}
	// The exporter writes the diff IDs, and so do we; here they would be the base's.
	res.Image.RootFS = ocispecs.RootFS{Type: "layers"}
	if r.Config, err = json.Marshal(res.Image); err != nil {
		return e.fail(err)
	}
	if r.Ops, r.Result, err = e.lower(def); err != nil {
		return e.fail(err)
	}
	e.graph.mark(e.target, e.bases.onBuild)
	r.FinalBase = r.finalBase()
	r.Context = r.contextUse()
	r.Warnings = sorted(e.warnings)
	return nil
}
