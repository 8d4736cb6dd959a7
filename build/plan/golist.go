package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

// goPackage is what `go list -json` says of a package: the fields used.
type goPackage struct {
	Dir, ImportPath, Name string
	GoFiles, CgoFiles     []string
	Error                 *struct{ Err string }
}

// isMain: a main package with something to compile. One that does not parse is
// a command too, so that compiling it says what is wrong.
func (p goPackage) isMain() bool { return p.Name == "main" && len(p.GoFiles)+len(p.CgoFiles) > 0 }

// list asks the go command for the packages of every module on every platform:
// by directory, at the platform's index. Platforms that no build constraint tells
// apart are asked about once. failed says why a nested module has none.
func (s sources) list(ctx context.Context, r run.Runner, root string, platforms []platform.Platform, env []string) (packages map[string][]goPackage, failed map[string]string, err error) {
	asked, as := s.distinct(root, platforms)
	outs := make([][]goPackage, len(s.modules)*len(asked))
	errs := make([]error, len(outs))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, m := range s.modules {
		for j, p := range asked {
			if len(m.patterns) > 0 {
				k := i*len(asked) + j
				group.Go(func() error {
					outs[k], errs[k] = listOne(ctx, r, m.command(root, p, env))
					return nil
				})
			}
		}
	}
	_ = group.Wait()
	packages, failed = map[string][]goPackage{}, map[string]string{}
	var fatal []error
	for k, out := range outs {
		m := s.modules[k/len(asked)]
		if err := errs[k]; err != nil {
			var said *GoError
			if errors.As(err, &said) && m.dir != "." {
				failed[m.dir] = said.Text
			} else {
				fatal = append(fatal, err)
			}
		}
		for _, p := range out {
			dir := relDir(root, p.Dir)
			if packages[dir] == nil {
				packages[dir] = make([]goPackage, len(platforms))
			}
			for i := range platforms {
				if as[i] == k%len(asked) {
					packages[dir][i] = p
				}
			}
		}
	}
	return packages, failed, once(fatal)
}

func (m goModule) command(root string, p platform.Platform, env []string) run.Cmd {
	return run.Cmd{ // -find leaves out what a package imports, which takes longer than all else
		Name: "go", Args: append([]string{"list", "-e", "-find", "-json=Dir,ImportPath,Name,GoFiles,CgoFiles,Error"}, m.patterns...),
		Dir: filepath.Join(root, filepath.FromSlash(m.dir)),
		Env: slices.Concat(p.GoEnv(), []string{"CGO_ENABLED=0"}, env), Reads: true,
	}
}

func listOne(ctx context.Context, r run.Runner, c run.Cmd) ([]goPackage, error) {
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	if err := r.Run(ctx, c); err != nil {
		return nil, Said("list packages in "+c.Dir, errOut.String(), err)
	}
	var list []goPackage
	for dec := json.NewDecoder(&out); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("list packages in %s: read go list: %w", c.Dir, err)
		}
		if p.Dir == "" && p.Error != nil { // about the pattern: the module is not one of go.work's
			return nil, &GoError{Doing: "list packages in " + c.Dir, Text: p.Error.Err}
		}
		list = append(list, p)
	}
}

// relDir is dir as a slash path from root. The go command names directories by
// the root as given, unless its own working directory was resolved.
func relDir(root, dir string) string {
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			rel, _ = filepath.Rel(real, dir)
		}
	}
	return filepath.ToSlash(rel)
}

// once joins errors in order, each text once: what is wrong with a module is
// wrong on every platform.
func once(errs []error) error {
	seen := map[string]bool{}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		again := seen[err.Error()]
		seen[err.Error()] = true
		return again
	})...)
}
