package build

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/plan"
)

// markName is the file in IMAGE_OUT that lists what archmage made there, one
// name a line. Clean removes these and nothing else.
const markName = ".archmage"

// ignoreAll keeps IMAGE_OUT out of git.
const ignoreAll = "# made by archmage\n*\n"

// ownOut makes IMAGE_OUT and notes that name below it is archmage's. What is
// there under that name already and was not made by archmage is refused.
func (p *Project) ownOut(name string) error {
	out := p.path(p.Out)
	if err := p.refuseOthers(name); err != nil {
		return err
	}
	if ours, err := readMark(out); err != nil || slices.Contains(ours, name) {
		return err
	}
	if err := p.disk.MkdirAll(out); err != nil {
		return err
	}
	ignore := filepath.Join(out, ".gitignore")
	p.disk.Sweep(out)
	if _, err := os.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := p.disk.Replace(ignore, func(w io.Writer) error { _, err := io.WriteString(w, ignoreAll); return err }); err != nil {
			return err
		}
	}
	return p.disk.Append(filepath.Join(out, markName), name+"\n") // in one write: two runs at once lose none
}

// refuseOthers refuses what is in IMAGE_OUT under a name and was not made by archmage.
func (p *Project) refuseOthers(name string) error {
	out := p.path(p.Out)
	// In this order: another run marks a name before it fills it.
	filled, err := notEmpty(filepath.Join(out, name))
	if err != nil {
		return err
	}
	ours, err := readMark(out)
	if err != nil || slices.Contains(ours, name) {
		return err
	}
	if filled && !(name == receiptsDir && onlyReceipts(filepath.Join(out, name))) {
		return Usage("remove it, or set IMAGE_OUT to another directory", "%s: not made by archmage", path.Join(p.Out, name))
	}
	return nil
}

// notEmpty reports whether there is a file of that name, or a directory with
// something in it.
func notEmpty(name string) (bool, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return true, nil
	}
	entries, err := os.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(entries) > 0, err
}

func readMark(out string) ([]string, error) {
	f, err := os.Open(filepath.Join(out, markName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var names []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name := lines.Text(); name == filepath.Base(name) && fs.ValidPath(name) && name != "." {
			names = append(names, name)
		}
	}
	return names, lines.Err()
}

// binDir is where all binaries are below, as a slash path; "." is the root.
func (p *Project) binDir() string {
	literal, _, _ := strings.Cut(p.Bin, "{")
	return path.Dir(literal + "x")
}

// ownBin makes the directory of binaries, where there is none, and keeps it out
// of git. Go asks git whether the tree was changed: binaries that git sees would
// make those of the next platform, and of the next run, other ones.
func (p *Project) ownBin(binaries []plan.Binary) error {
	dir := p.binDir()
	if dir == "." || !strings.HasPrefix(binaries[0].Path, dir+"/") {
		return nil
	}
	if _, err := os.Stat(p.path(dir)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := p.disk.MkdirAll(p.path(dir)); err != nil {
		return err
	}
	return p.disk.Write(p.path(path.Join(dir, ".gitignore")), []byte(ignoreAll))
}

// disownBin removes what ownBin made, once nothing else is in it: removed are
// the binaries that were.
func (p *Project) disownBin(removed []string) error {
	dir := p.path(p.binDir())
	ignore := filepath.Join(dir, ".gitignore")
	rest := left(dir, directlyIn(p.binDir(), removed)...)
	if data, err := os.ReadFile(ignore); err != nil || string(data) != ignoreAll || len(rest) != 1 {
		return nil
	}
	return errors.Join(p.disk.Remove(ignore), p.disk.Remove(dir))
}
