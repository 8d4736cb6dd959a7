package dockerfile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/distribution/reference"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/util/suggest"
	digest "github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// bases answers the front end's questions about images, from several
// goroutines at once, and remembers the answers: operations hold references
// in a form of their own.
type bases struct {
	ask     func(ref string, p platform.Platform) (ResolvedBase, error)
	checked bool // triggers are known not to ask a host, see remote.go

	mu    sync.Mutex
	found map[baseKey]foundBase
	wrong []baseError
}

type baseKey struct {
	id string
	p  platform.Platform
}

type foundBase struct {
	Base
	config []byte
}

// baseError is a base that could not be resolved.
type baseError struct {
	ref string
	p   platform.Platform
	err error
}

func newBases(ctx context.Context, resolver BaseResolver) *bases {
	return &bases{
		ask: func(ref string, p platform.Platform) (ResolvedBase, error) {
			return resolver.Resolve(ctx, ref, p)
		},
		found: map[baseKey]foundBase{},
	}
}

// ResolveImageConfig implements llb.ImageMetaResolver. The front end cancels
// its context as soon as one base fails; the evaluation's own is used instead,
// so that every base that is missing can be reported.
func (b *bases) ResolveImageConfig(_ context.Context, ref string, opt sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	if opt.ImageOpt == nil || opt.ImageOpt.Platform == nil {
		return "", "", nil, errDaemon
	}
	found, err := b.resolve(ref, *opt.ImageOpt.Platform)
	if err != nil {
		return "", "", nil, err
	}
	if !b.checked && slices.ContainsFunc(triggers(found.config), mayBeRemote) {
		return "", "", nil, errTrigger
	}
	return ref, digest.Digest(found.Digest), found.config, nil
}

// resolve asks once for each reference and platform.
func (b *bases) resolve(ref string, p ocispecs.Platform) (foundBase, error) {
	if found, ok := b.get(ref, p); ok {
		return found, nil
	}
	base, err := b.ask(ref, plain(p))
	if err == nil {
		err = b.remember(ref, p, base)
	}
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.wrong = append(b.wrong, baseError{ref, plain(p), err})
		return foundBase{}, err
	}
	found, _ := b.get(ref, p)
	return found, nil
}

func (b *bases) remember(ref string, p ocispecs.Platform, base ResolvedBase) error {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return err
	}
	if base.Digest != "" {
		d, err := digest.Parse(base.Digest)
		if err != nil {
			return fmt.Errorf("digest %q: %w", base.Digest, err)
		}
		if named, err = reference.WithDigest(named, d); err != nil {
			return err
		}
	}
	found := foundBase{Base{Ref: ref, Digest: base.Digest, Platform: plain(p)}, base.Config}
	if base.Ref != "" {
		found.Ref = base.Ref
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range []string{named.String(), ref} { // as in operations, and as asked for
		b.found[baseKey{id, plain(p)}] = found
	}
	return nil
}

// get finds a base by the reference in an operation, or as it was asked for.
func (b *bases) get(id string, p ocispecs.Platform) (foundBase, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, ok := b.found[baseKey{id, plain(p)}]
	return found, ok
}

// onBuild is the triggers of a base that was resolved.
func (b *bases) onBuild(ref string, p ocispecs.Platform) []string {
	found, _ := b.get(ref, p)
	return triggers(found.config)
}

func triggers(config []byte) []string { return imageConfig(config).OnBuild }

// imageConfig is the part of a config that counts here. The front end refuses
// one that does not parse.
func imageConfig(data []byte) (c struct{ OnBuild, Env []string }) {
	var image struct {
		Config struct{ OnBuild, Env []string } `json:"config"`
	}
	_ = json.Unmarshal(data, &image)
	return image.Config
}

// failures are the bases that could not be resolved, each at every place that
// names it, in file order.
func (b *bases) failures(e *evaluation) []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []*Error
	for _, w := range b.wrong {
		cause := fmt.Sprintf("base %s for %s: %s", w.ref, w.p, oneLine(w.err.Error()))
		places := e.graph.uses(w.ref, w.p)
		if len(places) == 0 { // named by a trigger of another base
			places = []Range{{}}
		}
		for _, at := range places {
			list = append(list, &Error{File: e.in.Dockerfile, Range: at, Cause: cause, hint: e.meant(w.ref), err: w.err})
		}
	}
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Cause, b.Cause))
	})
	var out []error
	for i, w := range list {
		if i == 0 || w.Range != list[i-1].Range || w.Cause != list[i-1].Cause {
			out = append(out, w)
		}
	}
	return out
}

// meant is a hint for a base that may be a misspelt stage.
func (e *evaluation) meant(ref string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(ref, "docker.io/library/"), ":latest")
	if match, ok := suggest.Search(name, e.script.stageNames(), true); ok {
		return "did you mean stage " + match + "?"
	}
	return ""
}
