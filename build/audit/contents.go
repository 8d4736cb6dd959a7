package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"runtime/debug"
	"strings"

	"github.com/archmage-go/archmage/build/rootfs"
)

// File is a file of an image that says what the image is made of.
type File struct {
	Path   string // absolute
	Links  int    // further names of the same file
	Size   int64  // bytes
	SHA256 string // hex; "" where Problem is set

	Format Format           // of a program or library
	Go     *debug.BuildInfo // likewise, without its build settings, which may name directories of the build; nil: not Go, or nothing left of it
	Text   []byte           // of what lists packages, and of os-release

	Problem string // why it could not be read; "" is none
}

// Contents is what an image is made of, its base's files included.
type Contents struct {
	Programs []File // executable files and libraries, by path
	Texts    []File // what package managers keep of what is installed, and os-release, by path
	Partial  bool   // a layer could not be read: more may be there
}

// Bounds on what is listed of one image, which is not to be trusted.
const (
	mostFiles = 50_000
	mostText  = 32 << 20 // bytes of one list of packages; a full desktop has 5 MB
)

// ImageContents does what [Image] does, and lists what the image is made of. All
// of its layers are read for that but those that Options.Facts remembers.
func ImageContents(ctx context.Context, s Subject, o Options) (Contents, []Finding, error) {
	l, err := examine(ctx, s, o)
	defer l.close()
	if err != nil {
		return Contents{}, l.list(), err
	}
	found := l.list()
	if l.parsed && l.layers == nil { // the platform is one that is not judged
		manifest, err := s.Image.Manifest()
		if err == nil {
			err = l.fold(ctx, s, manifest, o)
		}
		if err != nil {
			return Contents{}, found, err
		}
	}
	c, err := l.contents(o)
	return c, found, err
}

func (l *look) contents(o Options) (Contents, error) {
	facts := map[*content]fact{}
	for _, layer := range l.layers {
		known, err := layer.facts(o.Facts)
		var found *damage
		switch {
		case errors.As(err, &found):
			l.partial = true
		case err != nil:
			return Contents{}, err
		}
		maps.Copy(facts, known)
	}
	c := Contents{Partial: l.partial}
	files, err := l.files(facts)
	for _, f := range files {
		if lists(f.Path) {
			c.Texts = append(c.Texts, *f)
		} else {
			c.Programs = append(c.Programs, *f)
		}
	}
	return c, err
}

// files are those that facts tell of and that are in the image, by path, each
// under its first name.
func (l *look) files(facts map[*content]fact) ([]*File, error) {
	var list []*File
	seen := map[*rootfs.Node]*File{}
	err := l.tree.Walk("/", func(p string, n *rootfs.Node) error {
		at, ok := n.Data.(*content)
		if !ok {
			return nil
		}
		if first := seen[n]; first != nil {
			first.Links++
			return nil
		}
		f, ok := facts[at]
		if !ok || !lists(p) && (f.Format == "" || !runnable(p, n)) {
			return nil
		}
		file := &File{Path: p, Size: at.size, SHA256: f.SHA256, Problem: f.Problem}
		if lists(p) {
			file.Text = f.Text
		} else {
			file.Format, file.Go = f.Format, f.Go
		}
		seen[n] = file
		if list = append(list, file); len(list) > mostFiles {
			return fmt.Errorf("it holds more than %d programs", mostFiles)
		}
		return nil
	})
	return list, err
}

// lists reports whether a file says what is installed: dpkg's and apk's lists,
// of which a distroless base has one file per package, and os-release.
func lists(p string) bool {
	dir, base := path.Split(p)
	switch {
	case base == "os-release":
		return dir == "/etc/" || dir == "/usr/lib/"
	case base == "status":
		return dir == "/var/lib/dpkg/"
	case base == "installed":
		return dir == "/lib/apk/db/" || dir == "/usr/lib/apk/db/"
	}
	return dir == "/var/lib/dpkg/status.d/" && !strings.HasSuffix(base, ".md5sums")
}

// listing reports whether a file begins as a list of packages does: such a file
// is kept however large it is.
func listing(head string) bool {
	return strings.HasPrefix(head, "Package: ") || strings.HasPrefix(head, "C:Q")
}

// text is a file's content, if that is not too long.
func text(r *io.SectionReader) ([]byte, string) {
	if r.Size() > mostText {
		return nil, errNotKept.Error()
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, "it cannot be read"
	}
	return data, ""
}
