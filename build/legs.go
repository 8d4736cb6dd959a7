package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/image"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/publish"
)

// legs builds the legs of one plan.
type legs struct {
	*Project
	work  *work
	bases *image.Bases
	blobs *image.Blobs
	repos repositories

	building chan struct{}    // holds one for each leg that is not on its way yet
	running  *console.Running // of one leg
	auditor  string           // names this program to what it remembers of audits
}

// claim marks the directories that legs and their receipts will be written to.
func (l legs) claim() error {
	for _, leg := range l.work.plan.Legs {
		if leg.Engine == "" {
			continue
		}
		if err := l.ownOut(receiptsDir); err != nil {
			return err
		}
		if l.repos.remote {
			continue
		}
		if err := l.ownOut(leg.Image); err != nil {
			return err
		}
	}
	return nil
}

// show builds a leg where people can watch it.
func (l legs) show(ctx context.Context, leg plan.Leg) (publish.Receipt, v1.Image, error) {
	if l.DryRun {
		return l.build(ctx, leg)
	}
	start := time.Now()
	task := console.Task{Verb: "image", Subject: legSubjects([]plan.Leg{leg})[0], Phase: "build", Engine: leg.Engine}
	l.running = l.console.Begin(task)
	defer l.running.End()
	r, img, err := l.build(ctx, leg)
	if err == nil || ctx.Err() == nil { // one that is interrupted did not fail
		l.console.Done(console.Outcome{
			Verb: task.Verb, Subject: task.Subject, Engine: leg.Engine, State: l.repos.said(r.State),
			Digest: r.Digest, Size: r.Size, Time: time.Since(start), Err: err,
		})
	}
	return r, img, err
}

// build has a place among those that are built, and gives it up when there is
// nothing left to do but to push.
func (l legs) build(ctx context.Context, leg plan.Leg) (publish.Receipt, v1.Image, error) {
	release := sync.OnceFunc(func() { <-l.building })
	defer release()
	if err := ctx.Err(); err != nil {
		return publish.Receipt{}, nil, err
	}
	if img, _ := l.work.leg(leg); img.Timeout > 0 {
		var done func()
		ctx, done = timeLimit(ctx, img.Timeout)
		defer done()
	}
	push, err := l.push(leg)
	if err != nil {
		return publish.Receipt{}, nil, err
	}
	r, kept, err := l.kept(ctx, leg, push)
	var m made
	switch {
	case err != nil:
	case kept && l.Load == "true":
		m.image, err = push.Repo.Image(ctx, r.Digest)
	case !kept:
		r, m, err = l.publish(ctx, leg, push, release)
	}
	if err == nil {
		m.receipt = r
		err = l.attach(ctx, leg, push, m)
	}
	if err == nil {
		err = r.Save(l.disk, l.receiptsPath())
	}
	if late, ok := context.Cause(ctx).(lateError); ok && err != nil {
		err = fmt.Errorf("image %s %s: %w", leg.Image, leg.Platform, late)
	}
	if err != nil {
		return publish.Receipt{}, nil, err
	}
	return r, m.image, nil
}

// publish makes a leg and writes it, again where what was remembered of a layer
// turns out not to be so. Each time one memory more has been put right; a file
// that changes all the while ends it. built is called when it is on its way to a
// registry.
func (l legs) publish(ctx context.Context, leg plan.Leg, push publish.Push, built func()) (r publish.Receipt, m made, err error) {
	img, recipe := l.work.leg(leg)
	for range 1 + len(recipe.Ops) {
		if m, err = l.make(ctx, leg, img, recipe); err == nil {
			push.Beside = l.beside(leg, push, &m)
			r, err = l.write(ctx, push, m.image, built)
		} else if errors.Is(err, image.ErrDryRun) {
			r, err = l.foretell(ctx, push, recipe)
		}
		if stale := (*image.StaleError)(nil); !errors.As(err, &stale) {
			break
		}
	}
	return r, m, err
}

// write pushes a leg, or puts it into IMAGE_OUT.
func (l legs) write(ctx context.Context, push publish.Push, img v1.Image, built func()) (publish.Receipt, error) {
	if !l.repos.remote {
		l.running.Phase("write")
		return publish.PushLeg(ctx, push, img)
	}
	built()
	l.running.Phase("push")
	defer l.sent.watch(push.Repo.Name(), img, l.running)()
	return publish.PushLeg(ctx, push, img)
}

// timeLimit ends a context after d, unless done is called before. done leaves it
// alive, since an image that is loaded later reads its base under it.
func timeLimit(ctx context.Context, d time.Duration) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(d, func() { cancel(lateError{d}) })
	return ctx, func() { timer.Stop() }
}

// lateError is the cause of what a timeout ended.
type lateError struct{ limit time.Duration }

func (e lateError) Error() string { return fmt.Sprintf("took longer than its timeout of %s", e.limit) }

// kept asks, before an engine works, whether a fixed version is published from
// the same revision already: an engine's second build would differ.
func (l legs) kept(ctx context.Context, leg plan.Leg, push publish.Push) (publish.Receipt, bool, error) {
	if leg.Engine == plan.Native || !l.repos.remote {
		return publish.Receipt{}, false, nil
	}
	return publish.Kept(ctx, push, l.Commit.Revision)
}

// make builds the image of a leg with the engine that the plan chose, and audits
// it.
func (l legs) make(ctx context.Context, leg plan.Leg, img plan.Image, r *dockerfile.Recipe) (made, error) {
	builder, err := l.builder(leg)
	if err != nil {
		return made{}, err
	}
	built, err := builder.Build(ctx, l.request(leg, img, r))
	if err != nil {
		return made{}, fmt.Errorf("image %s %s: %w", leg.Image, leg.Platform, err)
	}
	m := made{image: built, base: sbomBase(r)}
	list, err := l.lists(ctx, leg, built)
	if err != nil {
		return made{}, err
	}
	if list {
		m.contents = &audit.Contents{}
	}
	return m, l.audit(ctx, leg, r, m)
}

// builder is the engine that the plan chose.
func (l legs) builder(leg plan.Leg) (image.Builder, error) {
	e := image.Engine{Runner: l.runner, Blobs: l.blobs, Bases: l.bases, Log: func(string) image.Log { return l.running.Log(lastLines) }, DryRun: l.DryRun}
	switch leg.Engine {
	case plan.Native:
		return image.Native{Bases: l.bases, Blobs: l.blobs, DryRun: l.DryRun}, nil
	case "buildx":
		return image.Buildx{Engine: e, Tool: l.ContainerTool, Builder: l.Builder, Driver: l.work.engines.driver}, nil
	case "buildah":
		return image.Buildah{Engine: e}, nil
	}
	return nil, l.cannotBuild(leg)
}

// lastLines is how much of an engine's output its failure repeats.
const lastLines = 15

// request is what every engine is asked for.
func (l legs) request(leg plan.Leg, img plan.Image, r *dockerfile.Recipe) image.Request {
	q := image.Request{
		Name: img.Name, Recipe: r, Root: l.Root, Context: l.path(img.Context), Omit: relative(img.Context, l.Out),
		BuildArgs: img.BuildArgs, Labels: engineLabels(l.Settings, img, r, leg.Engine),
		Annotations: annotations(l.Settings, img, r), Secrets: img.Secrets, SSH: img.SSH,
		Pinned:  l.pinned(r),
		Format:  image.Format{Docker: l.MediaTypes == "docker", Zstd: l.Compression == "zstd"},
		Created: created(l.Settings), Epoch: l.Epoch,
		Progress: func(bytes int64) { l.running.Moved(bytes, 0) },
	}
	if l.Cache == "auto" && l.Registry != "" {
		q.Cache = fmt.Sprintf("%s/%s:buildcache-%s", l.Registry, img.Name, r.Platform.Suffix())
		q.WriteCache = l.Push
	}
	return q
}

// pinned are the bases that IMAGE_MIRRORS redirects: an engine has to be told.
func (l legs) pinned(r *dockerfile.Recipe) []image.Pinned {
	var list []image.Pinned
	for _, op := range r.Ops {
		if op.Base == nil || op.Base.Digest == "" { // the engine reads what is not resolved here
			continue
		}
		if at := l.client.Mirrored(op.Base.Ref); at != "" {
			pin := image.Pinned{Ref: op.Base.Ref, At: at + "@" + op.Base.Digest}
			if !slices.Contains(list, pin) {
				list = append(list, pin)
			}
		}
	}
	return list
}

// push is where a leg goes. In IMAGE_OUT a leg replaces its own earlier entry;
// what may be replaced in a registry depends on the version.
func (l legs) push(leg plan.Leg) (publish.Push, error) {
	repo, err := l.repos.open(leg.Image)
	return publish.Push{
		Image: leg.Image, Repo: repo, Leg: publish.Leg{Platform: leg.Platform, Tag: leg.Tag}, Engine: leg.Engine,
		Fixed: l.repos.remote && publish.Fixed(plan.BaseVersion(l.Leg, l.Version)), Force: l.Force,
	}, err
}

// leg finds what a leg of the plan is built from.
func (w *work) leg(leg plan.Leg) (plan.Image, *dockerfile.Recipe) {
	i := slices.IndexFunc(w.plan.Images, func(img plan.Image) bool { return img.Name == leg.Image })
	img := w.plan.Images[i]
	return img, w.recipes[img.Name][slices.Index(img.Platforms, leg.Platform)]
}
