package build

import (
	"slices"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/compile"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/plan"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

func binarySubjects(binaries []plan.Binary) []console.Subject {
	list := make([]console.Subject, len(binaries))
	for i, b := range binaries {
		list[i] = console.Subject{Command: b.Command, Platform: b.Platform.String()}
	}
	return list
}

func legSubjects(legs []plan.Leg) []console.Subject {
	list := make([]console.Subject, len(legs))
	for i, leg := range legs {
		list[i] = console.Subject{Image: leg.Image, Platform: leg.Platform.String()}
	}
	return list
}

// compiling shows a go command while it works.
func (p *Project) compiling(pl platform.Platform, commands []string) (end func()) {
	return p.console.Begin(console.Task{
		Verb: "compile", Phase: "compile",
		Subject: console.Subject{Command: strings.Join(commands, " "), Platform: pl.String()},
	}).End
}

// compiled tells of a binary.
func (p *Project) compiled(e compile.Event) {
	done := console.Outcome{
		Verb: "compile", State: string(e.State), Path: e.Binary.Path,
		Subject: console.Subject{Command: e.Binary.Command, Platform: e.Binary.Platform.String()},
	}
	if e.State == compile.Built {
		done.Time = e.Duration
	}
	p.compiledNow = append(p.compiledNow, done)
	if e.Inode != e.Made {
		p.made[e.Inode] = e.Made
	}
	p.console.Done(done)
	if e.Output != "" {
		p.console.Lines(e.Output)
	}
}

// sent adds up what registries are sent, for each leg that waits for it.
type sent struct {
	mu   sync.Mutex
	legs map[string][]*sending // by repository@digest of a layer
}

// sending is one leg on its way.
type sending struct {
	running *console.Running
	blobs   map[string]registry.Transfer
}

// watch tells running of every layer of img that is sent to a repository, until
// done is called.
func (s *sent) watch(repository string, img v1.Image, running *console.Running) (done func()) {
	m, err := img.Manifest()
	if err != nil {
		return func() {} // whoever pushes it says so
	}
	one := &sending{running, map[string]registry.Transfer{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range m.Layers {
		key := repository + "@" + l.Digest.String()
		s.legs[key] = append(s.legs[key], one)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, l := range m.Layers {
			key := repository + "@" + l.Digest.String()
			s.legs[key] = slices.DeleteFunc(s.legs[key], func(other *sending) bool { return other == one })
			if len(s.legs[key]) == 0 {
				delete(s.legs, key)
			}
		}
	}
}

// tell is called for every piece that is sent.
func (s *sent) tell(t registry.Transfer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.legs[t.Name+"@"+t.Digest] {
		one.blobs[t.Digest] = t
		var bytes, total int64
		for _, b := range one.blobs {
			bytes, total = bytes+b.Bytes, total+b.Total
		}
		one.running.Moved(bytes, total)
	}
}
