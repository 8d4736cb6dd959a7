package build

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/image"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

// engines are the programs that build what needs RUN. They are asked for only
// where some recipe does.
type engines struct {
	list   []plan.Engine
	driver string // of the buildx builder
}

// askTime is how long an engine may take to say what it can do.
const askTime = 30 * time.Second

// engines finds out what this machine has. With start, a builder that does not
// run yet is started, so that it can say which platforms it has.
func (p *Project) engines(ctx context.Context, recipes map[string][]*dockerfile.Recipe, start bool) engines {
	if !p.needEngines(recipes) {
		return engines{}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	buildx, driver := p.askBuildx(ctx, start)
	return engines{list: []plan.Engine{buildx, p.askBuildah(ctx)}, driver: driver}
}

// asking asks for engines in the background, as the go command takes its time
// too; said waits for what they say, and stop ends it. A builder is started
// only once said is called: then all else is in order.
func (e evaluator) asking(ctx context.Context, recipes map[string][]*dockerfile.Recipe) (said func() engines, stop func()) {
	switch {
	case e.elsewhere || e.unasked:
		return func() engines { return engines{} }, func() {}
	case e.start:
		return func() engines { return e.engines(ctx, recipes, true) }, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan engines, 1)
	go func() {
		done <- e.engines(ctx, recipes, false)
		close(done)
	}()
	return func() engines { return <-done }, func() {
		cancel()
		<-done // closed where said has its answer
	}
}

func (p *Project) needEngines(recipes map[string][]*dockerfile.Recipe) bool {
	if p.Engine != "auto" {
		return p.Engine != plan.Native
	}
	for _, list := range recipes {
		for _, r := range list {
			if _, needed := r.NeedsEngine(); needed {
				return true
			}
		}
	}
	return false
}

// askBuildx asks buildx about the builder that would be used.
func (p *Project) askBuildx(ctx context.Context, start bool) (e plan.Engine, driver string) {
	e.Name = "buildx"
	if _, err := p.runner.Find(p.ContainerTool); err != nil {
		e.Missing = p.ContainerTool + " is not on PATH"
		return e, ""
	}
	ask := p.inspectBuilder(start)
	if start && p.DryRun { // a builder that does not run says less
		_ = p.runner.Run(ctx, ask)
		ask = p.inspectBuilder(false)
	}
	out, err := run.Output(ctx, p.runner, ask)
	if err != nil {
		e.Missing = lastLine(err)
		return e, ""
	}
	driver = field(string(out), "Driver:")
	for _, text := range fields(string(out), "Platforms:") {
		e.Platforms = append(e.Platforms, parsePlatforms(text)...)
	}
	return e, driver
}

// inspectBuilder asks about the builder; with start, it is started for that.
func (p *Project) inspectBuilder(start bool) run.Cmd {
	args := []string{"buildx", "inspect"}
	if start {
		args = append(args, "--bootstrap")
	}
	if p.Builder != "" {
		args = append(args, p.Builder)
	}
	return run.Cmd{Name: p.ContainerTool, Args: args, Without: image.Secret, Reads: !start}
}

// lastLine is the end of what a program said: what it complains about.
func lastLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return lines[len(lines)-1]
}

// field is the first value behind a name in `docker buildx inspect`.
func field(text, name string) string {
	if all := fields(text, name); len(all) > 0 {
		return all[0]
	}
	return ""
}

func fields(text, name string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name); ok {
			all = append(all, strings.TrimSpace(value))
		}
	}
	return all
}

// parsePlatforms reads a builder's list. What archmage has no name for is no
// platform that it could ask for.
func parsePlatforms(text string) []platform.Platform {
	var list []platform.Platform
	for _, word := range platform.Fields(text) {
		if p, err := platform.Parse(strings.Trim(word, "*")); err == nil && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// askBuildah finds out which platforms buildah can run: this machine's, and
// those that the kernel hands to an emulator.
func (p *Project) askBuildah(context.Context) plan.Engine {
	e := plan.Engine{Name: "buildah"}
	if _, err := p.runner.Find("buildah"); err != nil {
		e.Missing = "not on PATH"
		return e
	}
	for _, pl := range platform.Images() {
		if sameMachine(pl) || emulated(pl) {
			e.Platforms = append(e.Platforms, pl)
		}
	}
	return e
}

// sameMachine reports whether this machine's processor runs a platform's
// programs itself.
func sameMachine(p platform.Platform) bool {
	host := platform.Host()
	return p.Arch == host.Arch && (p == host || p.Arch == "amd64" && p.Variant == "") || host.Arch == "amd64" && p.Arch == "386"
}

// qemuNames are the architectures that qemu's binfmt handlers spell their own
// way.
var qemuNames = map[string]string{"arm64": "aarch64", "386": "i386", "mips64le": "mips64el", "mipsle": "mipsel", "loong64": "loongarch64", "amd64": "x86_64"}

// emulated reports whether the kernel hands programs of p to an emulator.
func emulated(p platform.Platform) bool {
	name := p.Arch
	if q, ok := qemuNames[p.Arch]; ok {
		name = q
	}
	data, err := os.ReadFile("/proc/sys/fs/binfmt_misc/qemu-" + name)
	return err == nil && strings.HasPrefix(string(data), "enabled")
}

// cannotBuild is the error of a leg that nothing here can build.
func (l legs) cannotBuild(leg plan.Leg) error {
	return &EngineError{leg: leg, hint: l.engineHint(leg.Platform)}
}

// engineHint says what would make a leg possible that needs an engine.
func (l legs) engineHint(pl platform.Platform) string {
	if l.Engine == plan.Native {
		return "docker buildx and buildah build it: leave IMAGE_ENGINE at auto"
	}
	for _, e := range l.work.engines.list {
		if e.Missing == "" && (l.Engine == "auto" || l.Engine == e.Name) { // it is there, but lacks the platform
			return fmt.Sprintf("register an emulator for %s (package qemu-user-static), name a builder that has it with BUILDX_BUILDER, or leave %s out of IMAGE_PLATFORMS", pl.Arch, pl)
		}
	}
	switch l.Engine {
	case "buildx":
		return "install and start docker with buildx, or leave IMAGE_ENGINE at auto"
	case "buildah":
		return "install buildah, or leave IMAGE_ENGINE at auto"
	}
	return "install and start docker with buildx, or install buildah"
}

// EngineError says that a leg needs an engine that is not to be had.
type EngineError struct {
	leg  plan.Leg
	hint string
}

func (e *EngineError) Error() string {
	return fmt.Sprintf("image %s %s: cannot be built here: %s", e.leg.Image, e.leg.Platform, e.leg.Why)
}

// Hint is the line to show below the error.
func (e *EngineError) Hint() string { return e.hint }
