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
)

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
		err = errors.Join(err, a.putBack(mod, oldMod), a.putBack(sum, oldSum))
	}
	return err
}

func readIfThere(file string) []byte {
	data, _ := os.ReadFile(file)
	return data
}

// putBack gives a file its content again; one that was not there goes.
func (a *adopter) putBack(file string, data []byte) error {
	if data != nil {
		return a.disk.Write(file, data)
	}
	if err := a.disk.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
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
	return a.disk.Create(file, data)
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
