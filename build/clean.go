package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/archmage-go/archmage/build/cache"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/plan"
)

// CleanOptions say what is removed.
type CleanOptions struct {
	Cache bool // what is remembered between runs of any repository, and nothing of this one
}

// Clean removes what archmage made: what the mark in IMAGE_OUT lists, and the
// binaries that are those it compiled last. Everything else stays.
func (p *Project) Clean(ctx context.Context, o CleanOptions) error {
	if o.Cache {
		return p.cleanCaches()
	}
	removed, err := p.cleanOut()
	if err != nil {
		return err
	}
	binaries, err := p.cleanBinaries(ctx)
	if err != nil {
		return err
	}
	removed = append(removed, binaries...)
	for _, name := range removed {
		p.result(name)
	}
	if len(removed) == 0 {
		p.console.Event("clean", p.Out, "nothing of archmage's here")
	}
	return nil
}

func (p *Project) cleanOut() (removed []string, err error) {
	out := p.path(p.Out)
	names, err := readMark(out)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if err := p.disk.RemoveAll(filepath.Join(out, name)); err != nil {
			return removed, err
		}
		removed = append(removed, path.Join(p.Out, name))
	}
	gone := append(names, markName)
	ignore := filepath.Join(out, ".gitignore")
	if data, err := os.ReadFile(ignore); err == nil && string(data) == ignoreAll {
		if err := p.disk.Remove(ignore); err != nil {
			return removed, err
		}
		gone = append(gone, ".gitignore")
	}
	if err := p.disk.Remove(filepath.Join(out, markName)); err != nil {
		return removed, err
	}
	if len(left(out, gone...)) == 0 {
		return removed, p.disk.Remove(out)
	}
	return removed, nil
}

// cleanBinaries removes the binaries that archmage compiled, and what it kept to
// compile them. A file of the same name that is another one is not archmage's.
func (p *Project) cleanBinaries(ctx context.Context) (removed []string, err error) {
	found, err := plan.Commands(ctx, p.runner, p.Root, p.Platforms, p.goEnv()...)
	if err != nil {
		return nil, err
	}
	kept := keptFiles(p.trees().Path(p.Root))
	facts := plan.Facts{Platforms: p.Platforms, Bin: p.Bin}
	for _, c := range found.Commands {
		for _, pl := range p.Platforms {
			b := facts.Binary(c, pl)
			for _, name := range append([]string{b.Path}, b.Also...) {
				if ours(p.path(name), kept) && p.disk.Remove(p.path(name)) == nil {
					removed = append(removed, name)
				}
			}
		}
	}
	return removed, errors.Join(p.forget(), p.disownBin(removed))
}

// forget removes the programs kept for this checkout, unless another archmage
// compiles them just now.
func (p *Project) forget() error {
	if p.DryRun {
		return p.disk.RemoveAll(p.trees().Path(p.Root))
	}
	err := p.trees().Remove(p.Root)
	if errors.Is(err, cache.ErrInUse) {
		p.console.Note("%v", err)
		return nil
	}
	return err
}

// cleanCaches removes what archmage remembers, prints where that was, and says
// how much. What another archmage uses just now is left to it.
func (p *Project) cleanCaches() error {
	var freed int64
	var errs []error
	for _, c := range p.caches() {
		if p.DryRun {
			p.wouldClear(c)
			continue
		}
		u, err := c.clear()
		if u.Entries > 0 {
			p.console.Result(c.dir)
			freed += u.Bytes
		}
		for _, err := range console.Leaves(err) {
			if errors.Is(err, cache.ErrInUse) {
				p.console.Note("%v", err)
			} else {
				errs = append(errs, err)
			}
		}
	}
	p.done("clean", "caches", size(freed)+" removed")
	return errors.Join(errs...)
}

// wouldClear tells what clearing a cache would remove.
func (p *Project) wouldClear(c cached) {
	if u := c.usage(); u.Entries > 0 {
		p.console.Would("remove", fmt.Sprintf("%s (%d files, %s)", c.dir, u.Entries, size(u.Bytes)))
	}
}

// keptFiles lists the files that compiling has kept; none where it has not.
func keptFiles(dir string) (files []string) {
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, file)
		}
		return nil
	})
	return files
}

// ours reports whether a file is one of those kept: a link to it, or a copy.
func ours(file string, kept []string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return slices.ContainsFunc(kept, func(k string) bool {
		other, err := os.Lstat(k)
		return err == nil && (os.SameFile(info, other) || info.Size() == other.Size() && sameBytes(file, k))
	})
}

func sameBytes(a, b string) bool {
	sumA, errA := sumFile(a)
	sumB, errB := sumFile(b)
	return errA == nil && errB == nil && sumA == sumB
}
