package build

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/publish"
)

// digestsName is the file in IMAGE_OUT that lists what the last manifest or
// promote published: a line NAME@DIGEST per index, sorted, for who signs it.
const digestsName = "digests.txt"

// claimDigests finds out before anything is published whether the list can be
// written, and takes away that of an earlier run: where this one fails, nobody
// signs what it did not publish.
func (p *Project) claimDigests() error {
	err := p.refuseOthers(digestsName)
	if err != nil {
		return err
	}
	file := p.path(path.Join(p.Out, digestsName))
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return p.disk.Remove(file)
}

// writeDigests replaces the list. What is published is published: a list that
// cannot be written, as in a checkout that is read-only, is a warning.
func (p *Project) writeDigests(written []publish.Written) {
	var lines []string
	for _, w := range written {
		lines = append(lines, w.Name+"@"+w.Digest+"\n")
	}
	slices.Sort(lines)
	text := strings.Join(slices.Compact(lines), "")
	if text == "" {
		return
	}
	name := path.Join(p.Out, digestsName)
	err := p.ownOut(digestsName)
	if err == nil {
		err = p.disk.Replace(p.path(name), func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	}
	if err != nil {
		p.console.Warn("write %s: %v", name, err)
	}
}
