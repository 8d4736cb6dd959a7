package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/archmage-go/archmage/build/adopt"
	"github.com/archmage-go/archmage/build/config"
)

// short are the make targets that archmage gives without its own prefix.
var short = []string{"image", "manifest"}

// propose collects what is new. What is there already is not proposed again.
func (a *adopter) propose(ctx context.Context) error {
	v := a.values(ctx)
	err := errors.Join(a.proposeSettings(v), a.proposeMakefile(v), a.proposeMage(v), a.proposeIgnored(ctx))
	if a.o.GitHub {
		err = errors.Join(err, a.proposeWorkflow(v))
	}
	return err
}

func (a *adopter) values(ctx context.Context) adopt.Values {
	v := adopt.Values{Go: a.module != "", Own: a.tool, Registry: a.registry, Version: ownVersion(), Branch: a.branch(ctx), Images: a.undeclared}
	v.Schema = "https://raw.githubusercontent.com/" + strings.TrimPrefix(adopt.Module, "github.com/") + "/" + reference(v.Version) + "/docs/archmage.schema.json"
	v.Targets = slices.DeleteFunc(slices.Clone(short), a.make.Has)
	v.Some = len(v.Targets) < len(short)
	if slices.ContainsFunc(a.mage.Targets, func(name string) bool { return slices.Contains(mageTargets, name) }) {
		v.Alias = "archmage"
	}
	return v
}

// mageTargets are those of build/targets.
var mageTargets = []string{"audit", "binaries", "clean", "compile", "image", "init", "inspect", "manifest", "plan", "promote", "verify", "version"}

// ownVersion is the version under which the go command finds this archmage.
// That of a commit is one only where it was fetched as a module: a checkout's
// may be nowhere else.
func ownVersion() string {
	v := ReadVersion().Version
	pre := semver.Prerelease(v)
	switch {
	case !semver.IsValid(v) || semver.Build(v) != "":
	case module.IsPseudoVersion(v):
		if !fromCheckout() {
			return v
		}
	case !strings.Contains(pre, "-g") && !strings.HasSuffix(pre, "dirty"):
		return v
	}
	return "latest"
}

// fromCheckout reports whether the go command stamped this program with what a
// version control system says.
func fromCheckout() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs" })
}

// reference is what a version is called in archmage's own repository.
func reference(version string) string {
	if rev, err := module.PseudoVersionRev(version); err == nil {
		return rev
	}
	if version == "latest" {
		return "main"
	}
	return version
}

func (a *adopter) proposeSettings(v adopt.Values) error {
	switch {
	case len(v.Images) == 0:
		return nil
	case a.has(config.FileName):
		for _, img := range v.Images {
			a.notes = append(a.notes, fmt.Sprintf("%s names no image for %s: add `%s:` with `dockerfile: %s` to it where it shall be one", config.FileName, img.Dockerfile, img.Name, img.Dockerfile))
		}
		return nil
	}
	return a.create(config.FileName, adopt.SettingsFile, v)
}

// proposeMakefile adds archmage's targets. A target that the Makefile has stays
// what it is, and archmage's can be called by its long name.
func (a *adopter) proposeMakefile(v adopt.Values) error {
	mage := a.mage.Dir || len(a.mage.Root) > 0
	_, called := a.make.Variables["ARCHMAGE"]
	switch {
	case a.make.Tools:
		return a.proposeTools()
	case a.make.Adopted || called || !a.make.Exists && mage:
		return nil
	}
	block, err := adopt.Render(adopt.MakefileBlock, v)
	if err != nil {
		return err
	}
	for _, name := range short {
		if a.make.Has(name) {
			a.notes = append(a.notes, fmt.Sprintf("%s has a target %s, which stays: archmage's is `make archmage-%s`; to replace it, remove it and put %s into ARCHMAGE_TARGETS", a.make.Name, name, name, name))
		}
	}
	if err := a.extend(a.make.Name, func(old []byte) []byte { return adopt.AddBlock(old, block) }); err != nil {
		return err
	}
	if a.module == "" {
		return a.create(libraryCopy, adopt.MakefileLibrary, v)
	}
	return a.proposeTools()
}

// libraryCopy is archmage.mk in a repository that has no tools module.
const libraryCopy = "scripts/" + adopt.MakefileLibrary

// proposeTools adds the tools module, where archmage is no tool yet.
func (a *adopter) proposeTools() error {
	if a.tool || a.module == "" {
		return nil
	}
	s := a.toolsStep()
	if slices.ContainsFunc(a.steps, func(o goStep) bool { return o.makes == s.makes }) {
		return nil
	}
	data, err := os.ReadFile(a.path(adopt.ToolsMod))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.steps = append(a.steps, s)
	case err != nil:
		return err
	case !bytes.Contains(data, []byte(adopt.Tool)):
		a.notes = append(a.notes, adopt.ToolsMod+" is there, without archmage: "+goGetTool())
	}
	return nil
}

func (a *adopter) proposeMage(v adopt.Values) error {
	if len(a.mage.Root) > 0 && !a.mage.Adopted {
		a.notes = append(a.notes, fmt.Sprintf("%s would bring archmage's requirements into go.mod: give it a module of its own with `mkdir -p %s && git mv %s %s/`, and run init again; Mage is then started with `%s <target>`", words(a.mage.Root), adopt.MageDir, words(a.mage.Root), adopt.MageDir, mageCall))
		return nil
	}
	if !a.mage.Dir {
		return nil
	}
	if a.mage.Needs {
		a.steps = append(a.steps, a.mageStep())
	}
	if a.mage.Needs && !a.mage.OwnMod {
		a.notes = append(a.notes, adopt.MageDir+" becomes a module of its own: start Mage with `"+mageCall+" <target>`")
	}
	if a.mage.Adopted {
		return nil
	}
	return a.create(adopt.MageDir+"/archmage.go", adopt.MageFile, v)
}

// proposeIgnored keeps what archmage makes out of git.
func (a *adopter) proposeIgnored(ctx context.Context) error {
	if !a.checkout && !a.has(".gitignore") {
		return nil
	}
	var lines []string
	probe := strings.NewReplacer("{name}", "archmage", "{os}", "linux", "{arch}", "amd64", "{variant}", "").Replace(a.Bin)
	dir, _, nested := strings.Cut(probe, "/")
	if nested && !a.ignored(ctx, probe) {
		line := "/" + dir + "/"
		if files := a.git(ctx, "ls-files", "--", dir); files != nil && *files != "" {
			line = "/" + strings.NewReplacer("{name}", "*", "{os}", "linux", "{arch}", "*", "{variant}", "").Replace(a.Bin)
		}
		lines = append(lines, line)
	}
	if !a.ignored(ctx, a.Out+"/x") {
		lines = append(lines, "/"+a.Out+"/")
	}
	return a.extend(".gitignore", func(old []byte) []byte { return adopt.AddLines(old, lines) })
}

// proposeWorkflow adds a release workflow, beside one of another's where there is
// one of that name.
func (a *adopter) proposeWorkflow(v adopt.Values) error {
	for _, name := range a.workflows {
		data, err := os.ReadFile(a.path(path.Join(".github/workflows", name)))
		if err != nil {
			return err
		}
		if bytes.Contains(data, []byte("archmage")) {
			return nil
		}
	}
	name := adopt.ReleaseWorkflow
	if slices.Contains(a.workflows, name) {
		name = "archmage.yml"
		a.notes = append(a.notes, "release.yml is there and stays: archmage's workflow is "+name)
	}
	return errors.Join(a.create(".github/workflows/"+name, adopt.ReleaseWorkflow, v), a.proposeTools())
}

// create proposes a file that is not there.
func (a *adopter) create(name, template string, v adopt.Values) error {
	if a.has(name) {
		return nil
	}
	data, err := adopt.Render(template, v)
	if err == nil {
		a.changes = append(a.changes, &change{rewritten: rewritten{name: name, path: a.path(name), new: data}})
	}
	return err
}

// extend proposes what is made of a file, which may not be there yet. Behind a
// link it is the file itself that changes.
func (a *adopter) extend(name string, edit func(old []byte) []byte) error {
	c := &change{rewritten: rewritten{name: name, path: a.path(name)}}
	file, err := filepath.EvalSymlinks(c.path)
	root, rootErr := filepath.EvalSymlinks(a.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || rootErr != nil:
		return errors.Join(err, rootErr)
	default:
		rel, err := filepath.Rel(root, file)
		if err != nil || !filepath.IsLocal(rel) {
			a.notes = append(a.notes, name+" lies outside the repository, and is not touched")
			return nil
		}
		c.name, c.path, c.exists = filepath.ToSlash(rel), file, true
		if c.old, err = os.ReadFile(file); err != nil {
			return err
		}
	}
	if c.new = edit(c.old); !bytes.Equal(c.old, c.new) {
		a.changes = append(a.changes, c)
	}
	return nil
}
