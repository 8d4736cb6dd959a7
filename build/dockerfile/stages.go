package dockerfile

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/containerd/platforms"
	"github.com/distribution/reference"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// graph is how the stages of a script hang together for one platform. The front
// end knows, but its graph has lost the stages that leave no operation behind.
type graph struct {
	*script
	platform platform.Platform
	args     variables // global scope
	nodes    []node
}

// node is one stage.
type node struct {
	base     string            // expanded
	platform ocispecs.Platform // of the base image, unless parent is a stage
	parent   int               // the stage it is built FROM, -1 for an image or scratch
	expanded bool              // its triggers are among its instructions
}

// variables are a scope for word expansion.
type variables map[string]string

// Get implements shell.EnvGetter.
func (v variables) Get(key string) (string, bool) { value, ok := v[key]; return value, ok }

// Keys implements shell.EnvGetter.
func (v variables) Keys() []string { return slices.Sorted(maps.Keys(v)) }

func newGraph(s *script, in Input) *graph {
	g := &graph{script: s, platform: plain(spec(in.Platform)), args: globals(s, in)}
	elsewhere := in
	elsewhere.BuildPlatform = platform.Platform{OS: "other", Arch: "other", Variant: "other"}
	other := globals(s, elsewhere)
	for i, st := range s.file.Stages {
		n := node{base: g.expand(st.Base), platform: spec(in.Platform), parent: -1}
		if p, err := platforms.Parse(g.expand(st.Platform)); err == nil && st.Platform != "" {
			n.platform = p
		}
		for j := range i { // the last stage of a name counts; names are lower case, bases as written
			if name := s.file.Stages[j].Name; name != "" && name == n.base {
				n.parent = j
			}
		}
		g.nodes = append(g.nodes, n)
		to := &s.file.Stages[i]
		to.Expanded, to.Parent, to.For = n.base, n.parent, plain(n.platform)
		to.HostBound = g.expand(st.Platform) != s.expandIn(st.Platform, other)
	}
	return g
}

// globals is the scope of the FROM instructions: the automatic arguments, then
// the ARGs before the first FROM, where a default beats an automatic value.
func globals(s *script, in Input) variables {
	build, target := spec(in.BuildPlatform), spec(in.Platform)
	stage := in.Target
	if n := len(s.file.Stages); stage == "" && n > 0 {
		stage = s.file.Stages[n-1].Name
	}
	v := variables{
		"BUILDPLATFORM": platforms.Format(build), "BUILDOS": build.OS, "BUILDOSVERSION": "",
		"BUILDARCH": build.Architecture, "BUILDVARIANT": build.Variant,
		"TARGETPLATFORM": platforms.FormatAll(target), "TARGETOS": target.OS, "TARGETOSVERSION": "",
		"TARGETARCH": target.Architecture, "TARGETVARIANT": target.Variant,
		"TARGETSTAGE": cmp.Or(stage, "default"),
	}
	for _, ins := range s.file.Global {
		for _, a := range ins.Args {
			v.define(s, a, in.Args)
		}
	}
	return v
}

// define does what an ARG does: a build argument, else the default.
func (v variables) define(s *script, a Arg, given map[string]string) {
	if value, ok := given[a.Key]; ok {
		v[a.Key] = value
	} else if a.Default != nil {
		v[a.Key] = s.expandIn(*a.Default, v)
	}
}

// expandIn expands a word. One that cannot be is left as it is: the front end
// has a better error for it than we do.
func (s *script) expandIn(word string, v variables) string {
	if !strings.ContainsAny(word, "$'\"\\`") {
		return word // most are: nothing to expand, unquote or escape
	}
	out, _, err := shell.NewLex(s.escape).ProcessWord(word, v)
	if err != nil {
		return word
	}
	return out
}

func (g *graph) expand(word string) string { return g.expandIn(word, g.args) }

// target is the stage that is built: the last of that name, or the last of all.
func (g *graph) target(name string) (int, bool) {
	if name == "" {
		return len(g.nodes) - 1, len(g.nodes) > 0
	}
	return g.named(name)
}

// named finds a stage as COPY --from and the target do.
func (g *graph) named(name string) (int, bool) {
	for i, st := range slices.Backward(g.file.Stages) {
		if st.Name != "" && st.Name == strings.ToLower(name) {
			return i, true
		}
	}
	return 0, false
}

// from finds the stage that a --from means; an image is none.
func (g *graph) from(text string) (int, bool) {
	if i, err := strconv.Atoi(text); err == nil {
		return i, i >= 0 && i < len(g.nodes)
	}
	return g.named(text)
}

// mark sets Reachable for the stage and all it needs, and expands triggers on
// the way, since they may need more. onBuild gives those of a base image.
func (g *graph) mark(i int, onBuild func(ref string, p ocispecs.Platform) []string) {
	st, n := &g.file.Stages[i], &g.nodes[i]
	if st.Reachable {
		return
	}
	st.Reachable = true
	if n.parent >= 0 {
		g.mark(n.parent, onBuild)
	}
	if !n.expanded {
		n.expanded = true
		if n.parent >= 0 {
			g.prepend(i, g.triggers(n.parent))
		} else {
			g.prepend(i, onBuild(normal(n.base), n.platform))
		}
	}
	for _, ins := range st.Instructions {
		if j, ok := g.from(ins.From); ok && ins.From != "" {
			g.mark(j, onBuild)
		}
		for _, from := range ins.Mounts {
			if j, ok := g.named(from); ok {
				g.mark(j, onBuild)
			}
		}
	}
}

// epoch is SOURCE_DATE_EPOCH, and whether it is one that can be evaluated here.
// BuildKit also takes the name of a stage, and asks that stage's remote.
func (g *graph) epoch(given map[string]string) (string, bool) {
	value, ok := given[epochArg]
	if !ok {
		value = g.args[epochArg]
	}
	_, err := strconv.ParseInt(value, 10, 64)
	return value, value == "" || value == "context" || err == nil
}

// uses lists the places that name a base image, in file order.
func (g *graph) uses(ref string, p platform.Platform) []Range {
	var at []Range
	for i, st := range g.file.Stages {
		n := g.nodes[i]
		if n.parent < 0 && normal(n.base) == ref && plain(n.platform) == p {
			at = append(at, st.From.Range)
		}
		for _, ins := range st.Instructions {
			names := func(from string) bool { return p == g.platform && normal(from) == ref }
			if names(ins.From) || slices.ContainsFunc(ins.Mounts, names) {
				at = append(at, ins.Range)
			}
		}
	}
	return at
}

// normal is a reference in the form that resolvers are asked in, or "".
func normal(ref string) string {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return ""
	}
	return reference.TagNameOnly(named).String()
}

// badFrom is the place of the first --from that the front end refuses without
// saying where: one with a variable, or the index of no stage.
func (s *script) badFrom() Range {
	for i, commands := range s.stages {
		for k, command := range commands {
			c, ok := command.(*instructions.CopyCommand)
			if !ok || c.From == "" {
				continue
			}
			out, _, err := shell.NewLex(s.escape).ProcessWord(c.From, variables{})
			index, notNumber := strconv.Atoi(c.From)
			if err != nil || out != c.From || notNumber == nil && (index < 0 || index >= len(s.stages)) {
				return s.file.Stages[i].Instructions[k].Range
			}
		}
	}
	return Range{}
}

// stageNames lists what can be asked for as target.
func (s *script) stageNames() []string {
	var names []string
	for _, st := range s.file.Stages {
		if st.Name != "" && !slices.Contains(names, st.Name) {
			names = append(names, st.Name)
		}
	}
	return names
}
