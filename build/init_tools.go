package build

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
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
			a.done("init", s.makes, "written")
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
		if err == nil || a.DryRun { // nobody has made it
			err = a.disk.Create(a.path(path.Join(path.Dir(adopt.ToolsMod), name)), data)
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
