package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/archmage-go/archmage/build/adopt"
	"github.com/archmage-go/archmage/build/run"
)

// goStep is what the go command has to do, for which it may need the network.
type goStep struct {
	makes string // file
	typed string // for people, who can do it later
	run   func(ctx context.Context) error
}

// runSteps runs them all. One that fails leaves nothing behind, and says what to
// type where there is a network.
func (a *adopter) runSteps(ctx context.Context) error {
	var errs []error
	for _, s := range a.steps {
		err := s.run(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			errs = append(errs, &goStepError{s, err})
		default:
			a.console.Event("init", s.makes, "written")
		}
	}
	return errors.Join(errs...)
}

type goStepError struct {
	goStep
	err error
}

func (e *goStepError) Error() string { return "init " + e.makes + ": " + e.err.Error() }
func (e *goStepError) Unwrap() error { return e.err }
func (e *goStepError) Hint() string  { return "run init again, or: " + e.typed }

// goEnvironment keeps workspaces and vendor directories, which know nothing of
// these modules, out of it.
var goEnvironment = []string{"GOWORK=off", "GOFLAGS=-mod=mod"}

func goGetTool() string {
	return words(append(goEnvironment, "go", "get", "-tool", "-modfile="+adopt.ToolsMod, adopt.Tool+"@"+ownVersion()))
}

func (a *adopter) toolsStep() goStep {
	return goStep{
		makes: adopt.ToolsMod,
		typed: "mkdir -p " + path.Dir(adopt.ToolsMod) + " && go mod init -modfile=" + adopt.ToolsMod + " " + a.module + " && " + goGetTool(),
		run:   a.toolsModule,
	}
}

// toolsModule makes the tools module elsewhere and moves it here when it is
// complete.
func (a *adopter) toolsModule(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "archmage-init-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	base := path.Base(adopt.ToolsMod)
	mod := filepath.Join(dir, base)
	root, err := a.rootModule()
	if err != nil {
		return err
	}
	text := "module " + a.module + "\n"
	if root.Go != nil {
		text += "\ngo " + root.Go.Version + "\n"
	}
	if err := os.WriteFile(mod, []byte(text), 0o644); err != nil {
		return err
	}
	if err := a.goRun(ctx, a.Root, "get", "-tool", "-modfile="+mod, adopt.Tool+"@"+ownVersion()); err != nil {
		return err
	}
	sum := strings.TrimSuffix(base, ".mod") + ".sum"
	for _, name := range []string{sum, base} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = newFile(a.path(path.Join(path.Dir(adopt.ToolsMod), name)), data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *adopter) goRun(ctx context.Context, dir string, args ...string) error {
	_, err := run.Output(ctx, a.runner, run.Cmd{Name: "go", Args: args, Dir: dir, Env: goEnvironment})
	return err
}

func (a *adopter) rootModule() (*modfile.File, error) {
	data, err := os.ReadFile(a.path("go.mod"))
	if err != nil {
		return nil, err
	}
	return modfile.Parse("go.mod", data, nil)
}

// mage is a tool of the magefiles' module: where that is one of its own, only a
// Mage that is started there finds the packages.
const mage = "github.com/magefile/mage"

// mageCall starts it, for the repository's root.
const mageCall = "go -C " + adopt.MageDir + " tool mage -w .."

// mageGet is what the go command does in the magefiles' module.
func mageGet() [][]string {
	return [][]string{{"get", adopt.Module + "@" + ownVersion()}, {"mod", "edit", "-tool=" + mage}, {"mod", "tidy"}}
}

func (a *adopter) mageStep() goStep {
	lines := []string{"cd " + adopt.MageDir}
	if !a.mage.OwnMod {
		lines = append(lines, "go mod init "+a.mageModuleName())
	}
	for _, args := range mageGet() {
		lines = append(lines, words(slices.Concat(goEnvironment, []string{"go"}, args)))
	}
	return goStep{makes: adopt.MageDir + "/go.mod", typed: strings.Join(lines, " && "), run: a.mageModule}
}

func (a *adopter) mageModuleName() string { return path.Join(a.module, adopt.MageDir) }

// mageModule requires archmage in the module of the magefiles. Where that is the
// root's, they get one of their own, which begins with what the root requires:
// their libraries stay at their versions, unless archmage needs newer ones.
func (a *adopter) mageModule(ctx context.Context) error {
	dir := a.path(adopt.MageDir)
	mod, sum := filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")
	oldMod, oldSum := readIfThere(mod), readIfThere(sum)
	err := a.startMageModule(mod)
	for _, args := range mageGet() {
		if err == nil {
			err = a.goRun(ctx, dir, args...)
		}
	}
	if err != nil {
		err = errors.Join(err, putBack(mod, oldMod), putBack(sum, oldSum))
	}
	return err
}

func readIfThere(file string) []byte {
	data, _ := os.ReadFile(file)
	return data
}

// putBack gives a file its content again; one that was not there goes.
func putBack(file string, data []byte) error {
	if data != nil {
		return os.WriteFile(file, data, 0o644)
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (a *adopter) startMageModule(file string) error {
	if a.mage.OwnMod {
		return nil
	}
	m := new(modfile.File)
	if err := m.AddModuleStmt(a.mageModuleName()); err != nil {
		return err
	}
	if a.module != "" {
		root, err := a.rootModule()
		if err != nil {
			return err
		}
		if err := a.require(m, root); err != nil {
			return err
		}
	}
	data, err := m.Format()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return newFile(file, data)
}

// require takes over what the root's module requires and replaces.
func (a *adopter) require(m, root *modfile.File) error {
	var errs []error
	if root.Go != nil {
		errs = append(errs, m.AddGoStmt(root.Go.Version))
	}
	for _, r := range root.Require {
		m.AddNewRequire(r.Mod.Path, r.Mod.Version, r.Indirect)
	}
	for _, r := range root.Replace {
		to := r.New.Path
		if r.New.Version == "" && !filepath.IsAbs(to) {
			to = "../" + strings.TrimPrefix(to, "./")
		}
		errs = append(errs, m.AddReplace(r.Old.Path, r.Old.Version, to, r.New.Version))
	}
	own := func(imported string) bool { return imported == a.module || strings.HasPrefix(imported, a.module+"/") }
	if slices.ContainsFunc(a.mage.Imports, own) {
		m.AddNewRequire(a.module, "v0.0.0", false)
		errs = append(errs, m.AddReplace(a.module, "", "../", ""))
	}
	return errors.Join(errs...)
}
