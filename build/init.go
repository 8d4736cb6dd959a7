package build

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/mod/modfile"

	"github.com/archmage-go/archmage/build/adopt"
	"github.com/archmage-go/archmage/build/config"
)

// InitOptions says what is proposed, and whether it is written.
type InitOptions struct {
	Write  bool // write it; without, a diff is printed
	GitHub bool // a release workflow too
}

// Init tells what a repository has, and proposes what it needs to be built by
// archmage: a diff on stdout, or with Write the files themselves. What is there
// is kept: files get lines at their end, once, and no file is replaced. The
// repository's go.mod and go.sum are never touched.
func (p *Project) Init(ctx context.Context, o InitOptions) error {
	a := &adopter{Project: p, o: o}
	if err := a.survey(ctx); err != nil {
		return err
	}
	if err := a.propose(ctx); err != nil {
		return err
	}
	a.judge(ctx)
	for _, note := range a.notes {
		a.console.Note("%s", note)
	}
	slices.SortFunc(a.changes, func(x, y *change) int { return strings.Compare(x.name, y.name) })
	switch {
	case len(a.changes)+len(a.steps) == 0:
		a.console.Event("init", ".", "nothing to do")
		return nil
	case o.Write:
		return a.write(ctx)
	}
	return a.print()
}

// adopter is one `init`.
type adopter struct {
	*Project
	o InitOptions

	checkout   bool   // git knows the directory
	module     string // path in the root's go.mod; "" without one
	tool       bool   // which has archmage as a tool
	make       adopt.Makefile
	mage       adopt.Magefiles
	images     []string // names
	undeclared []adopt.Image
	passed     []string // Dockerfiles that are left alone
	workflows  []string
	registry   string

	changes []*change
	steps   []goStep
	notes   []string
}

// change is a file that is new, or gets more lines.
type change struct {
	rewritten
	exists bool
}

// survey reads the repository, and tells what is there.
func (a *adopter) survey(ctx context.Context) error {
	if err := a.place(ctx); err != nil {
		return err
	}
	root, err := a.fsys()
	if err != nil {
		return err
	}
	defer root.Close()
	a.make = adopt.ReadMakefile(root.FS())
	if a.mage, err = adopt.ReadMagefiles(root.FS()); err != nil {
		return err
	}
	if data, err := root.ReadFile("go.mod"); err == nil {
		a.module = modfile.ModulePath(data)
		a.tool = bytes.Contains(data, []byte(adopt.Tool))
	}
	if err := a.lookForImages(root.FS()); err != nil {
		return err
	}
	for _, ext := range []string{"yml", "yaml"} {
		found, _ := filepath.Glob(a.path(".github/workflows/*." + ext))
		for _, file := range found {
			a.workflows = append(a.workflows, filepath.Base(file))
		}
	}
	a.registry = a.proposedRegistry()
	a.tell()
	return nil
}

func (a *adopter) tell() {
	say := func(subject string, there bool, detail string) {
		if there {
			a.console.Event("init", subject, detail)
		}
	}
	say("go.mod", a.module != "", "module "+a.module)
	say(a.make.Name, a.make.Exists, "targets: "+orNone(words(a.make.Targets)))
	settings := a.handedOn()
	say(a.make.Name, len(settings) > 0, "settings, which archmage gets too: "+words(settings))
	say(words(a.mage.Root), len(a.mage.Root) > 0, "targets: "+orNone(words(a.mage.Targets)))
	say(adopt.MageDir, a.mage.Dir, "targets: "+orNone(words(a.mage.Targets)))
	say("Dockerfiles", true, plural(len(a.images), "image")+colon(words(a.images)))
	for _, img := range a.undeclared {
		a.console.Event("init", img.Dockerfile, "image "+img.Name+", not found without archmage.yaml")
	}
	say("passed over", len(a.passed) > 0, words(a.passed))
	say(".github/workflows", len(a.workflows) > 0, words(a.workflows))
	say("remote origin", a.Commit.Source != "", a.Commit.Source)
	if a.module == "" {
		a.notes = append(a.notes, "no go.mod: nothing is compiled, and archmage is a program on PATH: go install "+adopt.Tool+"@"+ownVersion())
	}
	if len(a.images)+len(a.undeclared) == 0 {
		a.notes = append(a.notes, "no Dockerfile: an image needs one, such as cmd/<name>/Dockerfile")
	}
}

// handedOn are the variables of the Makefile that are settings of archmage.
func (a *adopter) handedOn() (names []string) {
	for _, v := range config.Variables() {
		for _, name := range []string{v.Name, v.Alias} {
			if _, set := a.make.Variables[name]; set {
				names = append(names, name)
			}
		}
	}
	return names
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// print shows what would be written, as a diff that git and patch take.
func (a *adopter) print() error {
	for _, c := range a.changes {
		if _, err := a.console.Write(c.diff()); err != nil {
			return err
		}
	}
	for _, s := range a.steps {
		a.console.Event("init", s.makes, "would run: "+s.typed)
	}
	a.console.Note("nothing is written: archmage init --write writes it")
	return nil
}

// diff is the change as git shows it. A file that is new begins with /dev/null.
func (c *change) diff() []byte {
	if c.exists {
		return diff.Diff("a/"+c.name, c.old, "b/"+c.name, c.new)
	}
	d := diff.Diff("a/"+c.name, nil, "b/"+c.name, c.new)
	d = bytes.Replace(d, []byte("\n--- a/"+c.name+"\n"), []byte("\nnew file mode 100644\n--- /dev/null\n"), 1)
	return bytes.Replace(d, []byte("diff a/"), []byte("diff --git a/"), 1)
}
