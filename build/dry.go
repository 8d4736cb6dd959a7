package build

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/archmage-go/archmage/build/files"
	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/run"
)

// rehearsal is what a dry run has instead of hands: commands, files and
// registries go through it, and each becomes a line on stdout. What only reads is
// done all the same, since what follows depends on the answers.
type rehearsal struct {
	*Project
	from string // working directory, which paths and commands are told from

	mu   sync.Mutex
	told []string // changes of files, each of which is one, however often it is made
}

// rehearse makes p change nothing from here on. One thing is done at a time, so
// that two dry runs read the same.
func (p *Project) rehearse() {
	from, _ := os.Getwd()
	r := &rehearsal{Project: p, from: from}
	p.Jobs = 1
	p.runner = run.DryRun{Runner: p.runner, Instead: r.command}
	p.disk = files.Disk{Instead: r.file}
	p.dry = &registry.DryRun{Instead: func(c registry.Change) { p.console.Would(c.Do, c.String()) }}
}

func (r *rehearsal) command(c run.Cmd) { r.console.Would("run", c.Shell(r.from)) }

func (r *rehearsal) file(c files.Change) {
	text := c.Path
	if rel, err := filepath.Rel(r.Root, c.Path); err == nil && filepath.IsLocal(rel) {
		text = filepath.ToSlash(rel)
	}
	if c.Note != "" {
		text += " (" + c.Note + ")"
	}
	r.mu.Lock()
	known := slices.Contains(r.told, c.Do+" "+c.Path)
	r.told = append(r.told, c.Do+" "+c.Path)
	r.mu.Unlock()
	if !known {
		r.console.Would(c.Do, text)
	}
}

// result prints what was made. In a dry run nothing was: what would be made is
// told where that happens.
func (p *Project) result(line string) {
	if !p.DryRun {
		p.console.Result(line)
	}
}

// done says that something was done, unless nothing was.
func (p *Project) done(verb, subject, detail string) {
	if !p.DryRun {
		p.console.Event(verb, subject, detail)
	}
}

// left are the names in a directory but for those that were just removed, which
// are there yet in a dry run.
func left(dir string, removed ...string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if !slices.Contains(removed, e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// directlyIn are those of names, slash paths, that are directly in dir, without it.
func directlyIn(dir string, names []string) []string {
	var list []string
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok && !strings.Contains(rest, "/") {
			list = append(list, rest)
		}
	}
	return list
}
