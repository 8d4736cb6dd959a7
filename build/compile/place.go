package compile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/archmage-go/archmage/build/plan"
)

// place checks a result and gives it its final names.
func (b *builder) place(file string, bin plan.Binary) error {
	if b.Check != nil {
		if err := b.Check(file, bin.Platform); err != nil {
			return fmt.Errorf("check %s: %w", bin.Path, err)
		}
	}
	var errs []error
	for _, name := range append([]string{bin.Path}, bin.Also...) {
		if err := publish(file, filepath.Join(b.Root, filepath.FromSlash(name))); err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// publish makes dest another name of file, or a copy where the file system has
// no such names. A dest that is that already is not touched. It changes in one
// step: whoever reads or runs the old file keeps it.
func publish(file, dest string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if have, err := os.Lstat(dest); err == nil && same(info, have) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	if err := link(file, dest); err == nil {
		return nil
	}
	return copyTo(file, dest, info)
}

// same reports whether have is file, or a copy that publish made of it.
func same(file, have fs.FileInfo) bool {
	return os.SameFile(file, have) ||
		have.Mode().IsRegular() && have.Mode().Perm() == 0o755 && have.Size() == file.Size() && have.ModTime().Equal(file.ModTime())
}

// linkDir begins the name of the directory of a link on its way.
const linkDir = ".link"

// link makes the new name beside file and moves it: what is left behind by an
// interrupted run is then not beside the binaries.
func link(file, dest string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(file), linkDir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	name := filepath.Join(tmp, filepath.Base(dest))
	if err := os.Link(file, name); err != nil {
		return err
	}
	return os.Rename(name, dest)
}

func copyTo(file, dest string, info fs.FileInfo) (err error) {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	tmp, err := os.CreateTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, in)
	if err = errors.Join(err, tmp.Chmod(0o755), tmp.Close()); err != nil {
		return err
	}
	if err := os.Chtimes(tmp.Name(), info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), dest)
}

// distinct refuses names that two binaries claim, and names outside the root.
func distinct(binaries []plan.Binary) error {
	owner := map[string]plan.Binary{}
	var errs []error
	for _, bin := range binaries {
		for _, name := range append([]string{bin.Path}, bin.Also...) {
			switch first, taken := owner[name]; {
			case !filepath.IsLocal(filepath.FromSlash(name)):
				errs = append(errs, fmt.Errorf("write %s: not inside the repository", name))
			case taken:
				errs = append(errs, fmt.Errorf("write %s: both %s for %s and %s for %s", name, first.Command, first.Platform, bin.Command, bin.Platform))
			default:
				owner[name] = bin
			}
		}
	}
	return errors.Join(errs...)
}

// noProgram is a package that the go command compiled and made no program of.
type noProgram struct{ binary plan.Binary }

func (e *noProgram) Error() string {
	return fmt.Sprintf("compile %s for %s: go made no program: package %s is not main", e.binary.Command, e.binary.Platform, e.binary.Package)
}
