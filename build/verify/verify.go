// Package verify finds what in a Dockerfile would put a wrong binary into an
// image. It compares the recipes of an image's platforms instead of matching
// text, so it knows what each platform really copies.
//
// A rule is a row of the table in rule.go, judges one image at a time, and has
// a page in docs/rules. What a rule cannot know, such as the content of a base,
// makes it silent: a finding of severity error is wrong in any case.
package verify

import (
	"cmp"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// Subject is one image to judge.
type Subject struct {
	Image   string               // name
	Root    fs.FS                // the repository; names of files and the first bytes of some are read
	Context string               // slash path of the build context from Root; "" is Root
	Recipes []*dockerfile.Recipe // one for each of the image's platforms, in their order

	Out      string              // archmage's own output directory as the context sees it, which is never in it; "" is none
	Bin      string              // form of a binary's path from Root, with {name}, {os}, {arch}, {variant}
	Commands []string            // names of every command of the repository
	Planned  []platform.Platform // of the whole run; nil is those of Recipes

	Dir   *os.Root              // Root as a directory, to read the context from; nil makes the rules on file trees silent
	Bases map[string]BaseAnswer // by dockerfile.Base.Ref; nil where no registry was asked
}

// BaseAnswer is what a registry says of a base.
type BaseAnswer struct {
	Digest    string              // sha256:… of what the reference names
	Index     bool                // it names an index, not one image
	Platforms []platform.Platform // that it has an image for, in its order
}

// Options says what counts.
type Options struct {
	Severity map[string]Severity // by rule, ours or BuildKit's; what is not named has its own
	Pedantic bool                // also what is only advice; a rule that Severity names is asked for anyway
	Jobs     int                 // subjects judged at once; 0 is one for each CPU
}

// Check judges every subject. It needs no network and starts nothing.
//
// BuildKit's own lint is among the findings, as warnings with BuildKit's words,
// except where one of ours says the same of the same instruction. What a
// `# check=` directive skips is left out, and where it says error=true every
// warning of the file is an error, unless Options.Severity names its rule.
//
// Findings are sorted by file, line, column, rule and image. Each is listed
// once: what several platforms share is one finding with all of them, in the
// order of the recipes, and what images of one Dockerfile share is one finding
// whose Image lists their names, sorted and separated by commas.
func Check(subjects []Subject, o Options) []Finding {
	found := make([][]Finding, len(subjects))
	var c contexts
	defer c.close()
	bins := binariesOf(subjects)
	var group errgroup.Group
	group.SetLimit(cmp.Or(o.Jobs, runtime.GOMAXPROCS(0)))
	for i, s := range subjects {
		group.Go(func() error {
			found[i] = o.judge(newState(s, bins[i]).among(subjects).reading(&c))
			return nil
		})
	}
	_ = group.Wait()
	return merge(slices.Concat(found...))
}

// judge asks every rule about one image. Those that are turned off are asked as
// well: they claim what is theirs.
func (o Options) judge(st *state) []Finding {
	var all []Finding
	for _, row := range table() {
		if row.Pedantic && !o.Pedantic && o.Severity[row.Name] == "" {
			continue
		}
		for _, f := range row.check(st) {
			f.Rule, f.Severity, f.URL = row.Name, cmp.Or(f.Severity, row.Severity), row.URL
			all = append(all, f)
		}
	}
	all = o.settle(st, all)
	all = append(all, o.settle(st, unsaid(st.lint(), all))...)
	for i := range all {
		all[i].Image = st.Image
	}
	return all
}
