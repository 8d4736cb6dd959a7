package plan

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
)

// Layout is what the settings say about where images are.
type Layout struct {
	Root      string              // absolute directory of the repository
	FS        fs.FS               // the same directory
	Dirs      []string            // where set, replaces discovery
	Declared  []Image             // of the settings file; they come first
	Platforms []platform.Platform // what to build for, unless an image says less
}

// Images finds every image of a repository, sorted by name. The second result
// are files that look like images and are none, and why.
func Images(l Layout) ([]Image, []Skipped, error) {
	var found finder
	found.fsys = l.FS
	var err error
	if len(l.Dirs) > 0 {
		err = found.dirs(l.Dirs)
	} else {
		err = found.discover(l.Root)
	}
	declared, declaredErr := declare(l, found.images)
	if err = errors.Join(err, declaredErr); err != nil {
		return nil, nil, err
	}
	images := declared
	for _, img := range found.images {
		if !slices.ContainsFunc(declared, func(d Image) bool { return d.Name == img.Name }) {
			img.Platforms = l.Platforms
			images = append(images, img)
		}
	}
	slices.SortFunc(images, func(a, b Image) int { return strings.Compare(a.Name, b.Name) })
	return images, found.skipped, nil
}

// declare completes what the settings file says of images by what was found
// under the same name.
func declare(l Layout, found []Image) ([]Image, error) {
	var images []Image
	var errs []error
	for _, img := range l.Declared {
		if img.Dockerfile == "" {
			i := slices.IndexFunc(found, func(f Image) bool { return f.Name == img.Name })
			if i < 0 {
				if len(l.Dirs) == 0 {
					errs = append(errs, usage("image "+img.Name, "say where: `dockerfile:` below its name in archmage.yaml", "no Dockerfile found for it"))
				}
				continue
			}
			img.Dockerfile = found[i].Dockerfile
		} else if len(l.Dirs) > 0 && !slices.ContainsFunc(found, func(f Image) bool { return f.Name == img.Name }) {
			continue // IMAGE_DIRS says which images there are
		}
		img.Platforms = intersect(l.Platforms, img.Platforms)
		images = append(images, img)
	}
	return images, errors.Join(errs...)
}

// LegalName is the nearest name that an image can have: in lower case, with a
// dash for what cannot be in it. "" where nothing is left.
func LegalName(text string) string {
	text = illegal.ReplaceAllString(strings.ToLower(text), "-")
	text = separators.ReplaceAllStringFunc(text, func(s string) string {
		if s == "." || s == "_" || s == "__" || strings.Trim(s, "-") == "" {
			return s
		}
		return "-"
	})
	return strings.Trim(text, "._-")
}

var (
	illegal    = regexp.MustCompile(`[^a-z0-9._-]+`)
	separators = regexp.MustCompile(`[._-]+`)
)

// CheckNames refuses images that no registry could hold. It is for images that
// are selected: what a directory is called is no reason to build nothing else.
func CheckNames(selected []Image) error {
	var errs []error
	for _, img := range selected {
		if legal.MatchString(img.Name) {
			continue
		}
		hint := "name its image in archmage.yaml, with `dockerfile: " + img.Dockerfile + "`"
		if better := LegalName(img.Name); better != "" {
			hint = "name it in archmage.yaml: `" + better + "` with `dockerfile: " + img.Dockerfile + "`, or leave it out of WHAT"
		}
		errs = append(errs, usage("image "+img.Name+" of "+img.Dockerfile, hint, "not a legal image name"))
	}
	return errors.Join(errs...)
}

// CheckPlatforms refuses images that nothing would be built of: those of
// archmage.yaml with none of the platforms that are built. It is for images that
// are selected: a CI job on one platform names those it builds.
func CheckPlatforms(selected []Image) error {
	var errs []error
	for _, img := range selected {
		if len(img.Platforms) == 0 {
			errs = append(errs, usage("image "+img.Name, "name one of its platforms, or leave the image out of WHAT", "none of its platforms is among IMAGE_PLATFORMS"))
		}
	}
	return errors.Join(errs...)
}

func intersect(all, some []platform.Platform) []platform.Platform {
	return slices.DeleteFunc(slices.Clone(all), func(p platform.Platform) bool { return !p.Match(some) })
}

// finder collects images; the first found of a name stays.
type finder struct {
	fsys    fs.FS
	images  []Image
	skipped []Skipped
}

func (f *finder) add(name, file string) {
	if !slices.ContainsFunc(f.images, func(i Image) bool { return i.Name == name }) {
		f.images = append(f.images, Image{Name: name, Dockerfile: file})
	}
}

// fileNames are what an image is described in, the first one found counts.
var fileNames = []string{"Dockerfile", "Containerfile"}

// dirs takes each directory as one image, named after it.
func (f *finder) dirs(dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		clean := path.Clean(filepath.ToSlash(dir))
		file, ok := f.in(clean)
		name := strings.ToLower(path.Base(clean))
		switch {
		case !fs.ValidPath(clean) || clean == ".":
			errs = append(errs, usage("IMAGE_DIRS "+dir, "write a path from the root of the repository", "not a directory inside the repository"))
		case !ok:
			errs = append(errs, usage("IMAGE_DIRS "+dir, "", "no Dockerfile or Containerfile in it"))
		case f.taken(name, file):
			errs = append(errs, usage("IMAGE_DIRS "+dir, "", "another directory in it gives an image %s too", name))
		default:
			f.add(name, file)
		}
	}
	return errors.Join(errs...)
}

func (f *finder) taken(name, file string) bool {
	return slices.ContainsFunc(f.images, func(i Image) bool { return i.Name == name && i.Dockerfile != file })
}

// in is the Dockerfile or Containerfile in a directory.
func (f *finder) in(dir string) (file string, ok bool) {
	for _, name := range fileNames {
		file := path.Join(dir, name)
		if info, err := fs.Stat(f.fsys, file); err == nil && info.Mode().IsRegular() {
			return file, true
		}
	}
	return "", false
}

// discover looks where projects keep Dockerfiles. Earlier places win.
func (f *finder) discover(root string) error {
	f.named("dockerfiles", func(name string) string { return trimAny(name, ".", fileNames) })
	f.below("dockerfiles")
	f.named("dockerfiles", func(name string) string { return cutAny(name, ".", fileNames) })
	f.below("cmd")
	f.below("build")
	return f.root(root)
}

// named adds the files of dir whose name says an image's.
func (f *finder) named(dir string, image func(file string) string) {
	entries, _ := fs.ReadDir(f.fsys, dir)
	for _, e := range entries {
		name := strings.ToLower(image(e.Name()))
		switch {
		case e.IsDir() || name == "":
		case template(e.Name()):
			f.skipped = append(f.skipped, Skipped{Dir: path.Join(dir, e.Name()), Reason: "a template"})
		default:
			f.add(name, path.Join(dir, e.Name()))
		}
	}
}

// template reports files that only look like a Dockerfile of their own.
func template(file string) bool {
	return slices.Contains([]string{".in", ".tmpl", ".template", ".dockerignore", ".md"}, path.Ext(file))
}

func trimAny(name, sep string, words []string) string {
	for _, w := range words {
		if rest, ok := strings.CutSuffix(name, sep+w); ok {
			return rest
		}
	}
	return ""
}

func cutAny(name, sep string, words []string) string {
	for _, w := range words {
		if rest, ok := strings.CutPrefix(name, w+sep); ok {
			return rest
		}
	}
	return ""
}

// below adds every directory below dir that holds a Dockerfile, at any depth
// under cmd as commands may nest, else one deep.
func (f *finder) below(dir string) {
	_ = fs.WalkDir(f.fsys, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || p == dir {
			return nil // a directory that cannot be read holds no image we could build
		}
		if hidden(d.Name()) {
			return fs.SkipDir
		}
		if file, ok := f.in(p); ok {
			f.add(strings.ToLower(path.Base(p)), file)
		}
		if dir != "cmd" {
			return fs.SkipDir
		}
		return nil
	})
}

// hidden directories are those that the go command passes over.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" || name == "node_modules"
}

// root adds a Dockerfile in the root, for the one command there is.
func (f *finder) root(dir string) error {
	file, ok := f.in(".")
	if !ok {
		return nil
	}
	mains := programs(f.fsys, dir)
	if !exists(f.fsys, "go.mod") && (len(mains) == 0 || len(mains) == 1 && mains[0] == "") {
		base := path.Base(filepath.ToSlash(dir))
		mains = []string{cmp.Or(LegalName(base), base)}
	}
	if len(mains) != 1 {
		f.skipped = append(f.skipped, Skipped{Dir: file, Reason: "serves no single command: name its image in archmage.yaml"})
		return nil
	}
	f.add(strings.ToLower(mains[0]), file)
	return nil
}

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}
