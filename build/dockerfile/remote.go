package dockerfile

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/dfgitutil"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/util/gitutil"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// For an ADD of a git repository over ssh, BuildKit's front end connects to the
// host for its key while it makes the graph (llb.Git, BuildKit v0.34.2), and
// waits as long as that takes. Evaluating must not use the network, so such an
// ADD is found first, with the variables it may hold, and then nothing is
// evaluated: it needs an engine in any case.

// errTrigger ends the front end's run before it reaches a base's trigger that
// may be such an ADD.
var errTrigger = errors.New("a trigger of the base may add from a remote")

// mayAddRemote reports whether the text alone leaves open that it adds over ssh.
func (s *script) mayAddRemote() bool {
	for i, commands := range s.stages {
		for _, command := range commands {
			if add, ok := command.(*instructions.AddCommand); ok && slices.ContainsFunc(add.SourcePaths, undecided) {
				return true
			}
		}
		if slices.ContainsFunc(s.triggers(i), mayBeRemote) {
			return true
		}
	}
	return false
}

// undecided reports whether a source, as written, may be one over ssh.
func undecided(source string) bool {
	return strings.ContainsAny(source, ":$") &&
		!strings.HasPrefix(source, "https://") && !strings.HasPrefix(source, "http://")
}

// mayBeRemote is undecided for an ONBUILD trigger.
func mayBeRemote(trigger string) bool {
	tree, err := parser.Parse(strings.NewReader(trigger))
	if err != nil || !strings.EqualFold(tree.AST.Children[0].Value, "add") {
		return false
	}
	return strings.ContainsAny(trigger, ":$")
}

// addOverSSH expands the sources of every ADD that the target needs as the
// front end would, and gives the first one over ssh.
func (e *evaluation) addOverSSH() (Op, bool) {
	e.bases.checked = true
	e.graph.mark(e.target, func(ref string, p ocispecs.Platform) []string {
		if ref == "" || ref == normal("scratch") {
			return nil
		}
		found, _ := e.bases.resolve(ref, p) // the front end reports what fails
		return triggers(found.config)
	})
	scopes := make([]variables, len(e.graph.nodes))
	for i, st := range e.graph.file.Stages {
		if !st.Reachable {
			continue
		}
		scopes[i] = e.scope(i, scopes)
		if op, ok := e.walk(i, scopes[i]); ok {
			return op, true
		}
	}
	return Op{}, false
}

// scope is what a stage starts with: all that its parent stage has in the end,
// or the base image's environment.
func (e *evaluation) scope(i int, scopes []variables) variables {
	n := e.graph.nodes[i]
	if n.parent >= 0 {
		return maps.Clone(scopes[n.parent])
	}
	v := variables{}
	found, _ := e.bases.get(normal(n.base), n.platform)
	for _, kv := range imageConfig(found.config).Env {
		key, value, _ := strings.Cut(kv, "=")
		v[key] = value
	}
	return v
}

// walk goes through a stage, changes v as it does, and gives its first ADD over
// ssh.
func (e *evaluation) walk(i int, v variables) (Op, bool) {
	for k, command := range e.script.stages[i] {
		ins := e.script.file.Stages[i].Instructions[k]
		switch c := command.(type) {
		case *instructions.ArgCommand:
			for _, a := range ins.Args {
				if value, ok := e.graph.args[a.Key]; ok && a.Default == nil {
					v[a.Key] = value
				}
				v.define(e.script, a, e.in.Args)
			}
		case *instructions.EnvCommand:
			next := maps.Clone(v)
			for _, kv := range c.Env {
				next[e.script.expandIn(kv.Key, v)] = e.script.expandIn(kv.Value, v)
			}
			maps.Copy(v, next)
		case *instructions.AddCommand:
			for _, source := range c.SourcePaths {
				if url, ok := overSSH(e.script.expandIn(source, v)); ok {
					return Op{Kind: KindGit, Name: ins.Text, URL: url, Ranges: []Range{ins.Range}}, true
				}
			}
		}
	}
	return Op{}, false
}

// overSSH tells git sources over ssh from all others as the front end does.
func overSSH(source string) (string, bool) {
	ref, _, err := dfgitutil.ParseGitRef(source)
	if err != nil || ref.IndistinguishableFromLocal {
		return "", false
	}
	url, err := gitutil.ParseURL(ref.Remote)
	return source, err == nil && url.Scheme == gitutil.SSHProtocol
}
