package dockerfile

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/containerd/platforms"
	"github.com/moby/buildkit/frontend/dockerui"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// Input is what a recipe is made of.
type Input struct {
	Root       string // directory of the repository, as the operating system spells it; "" is Context
	Context    string // directory of the build context, likewise
	Dockerfile string // slash path relative to Root, inside it; it need not be in Context

	Platform      platform.Platform // to build for; must be set
	BuildPlatform platform.Platform // of BUILDPLATFORM; zero is [platform.Host]
	Target        string            // stage; "" is the last one

	Args   map[string]string // build arguments, without the automatic ones
	Labels map[string]string // win over those of the Dockerfile
	Epoch  *time.Time        // as build argument SOURCE_DATE_EPOCH, in seconds

	// Omit lists slash paths that are never part of the context, whatever the
	// ignore file says, such as the directory that images are written to.
	// Paths that leave the context, and the context itself, are passed over.
	Omit []string

	// Overlay is what counts instead of the content of Dockerfiles and ignore
	// files, by clean slash path relative to Root: a change can be judged before
	// it is written.
	Overlay map[string][]byte

	MultiPlatform bool // several platforms are built: Op.Name carries this one

	Bases BaseResolver // nil is [Offline]
}

// epochArg is the build argument for timestamps, see reproducible-builds.org.
const epochArg = "SOURCE_DATE_EPOCH"

// check refuses what no Dockerfile could make right, and fills in defaults.
func (e *evaluation) check() error {
	in := &e.in
	in.Dockerfile = path.Clean(in.Dockerfile)
	if !inside(in.Dockerfile) {
		return &Error{File: in.Dockerfile, Cause: "lies outside the repository"}
	}
	if in.Platform == (platform.Platform{}) {
		return &Error{File: in.Dockerfile, Cause: "no platform to evaluate for"}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Args)) {
		if platform.AutomaticArg(name) {
			return &Error{
				File: in.Dockerfile, Cause: "build argument " + name + " is set by the platform",
				hint: "choose the platforms instead; a build argument would put one architecture into another's image",
			}
		}
	}
	if in.Root == "" {
		in.Root = in.Context
	}
	if in.BuildPlatform == (platform.Platform{}) {
		in.BuildPlatform = platform.Host()
	}
	if in.Bases == nil {
		in.Bases = Offline{}
	}
	in.Args = maps.Clone(in.Args)
	if in.Epoch != nil {
		if in.Args == nil {
			in.Args = map[string]string{}
		}
		in.Args[epochArg] = strconv.FormatInt(in.Epoch.Unix(), 10)
	}
	return nil
}

// inside reports whether a clean slash path stays below its root.
func inside(p string) bool {
	return p != "." && p != ".." && !path.IsAbs(p) && !strings.HasPrefix(p, "../")
}

// options is in the form that buildctl and buildx send to the front end, so
// that BuildKit's own parsing applies to it. It is written to by BuildKit.
func (e *evaluation) options() map[string]string {
	opts := map[string]string{"filename": e.in.Dockerfile}
	if e.in.Target != "" {
		opts["target"] = e.in.Target
	}
	if e.in.MultiPlatform {
		opts["multi-platform"] = "true"
	}
	for k, v := range e.in.Args {
		opts["build-arg:"+k] = v
	}
	for k, v := range e.in.Labels {
		opts["label:"+k] = v
	}
	return opts
}

// omit is Input.Omit as ignore patterns, each matching exactly one path.
func (in Input) omit() []string {
	var patterns []string
	for _, p := range in.Omit {
		if p = path.Clean(p); inside(p) {
			patterns = append(patterns, escape.Replace(p))
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

// escape takes their meaning from the characters that a pattern gives one.
var escape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `!`, `\!`)

// overContext is Overlay as the context sees it: its own ignore file.
func (in Input) overContext() map[string][]byte {
	data, ok := in.Overlay[in.fromRoot(dockerui.DefaultDockerignoreName)]
	if !ok {
		return nil
	}
	return map[string][]byte{dockerui.DefaultDockerignoreName: data}
}

// spec is p as BuildKit wants it: normalised, or TARGETVARIANT would be v8.
func spec(p platform.Platform) ocispecs.Platform {
	return platforms.Normalize(ocispecs.Platform{OS: p.OS, Architecture: p.Arch, Variant: p.Variant})
}

// plain is the reverse of spec. It does not go through [platform.Parse], since
// a FROM may name a platform that Go does not compile for.
func plain(p ocispecs.Platform) platform.Platform {
	p = platforms.Normalize(p)
	return platform.Platform{OS: p.OS, Arch: p.Architecture, Variant: p.Variant}
}
