package adopt

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Image is a Dockerfile that nothing but archmage.yaml can say the name of.
type Image struct {
	Name       string
	Dockerfile string
	Context    string // "" is the root
}

// aside are directories whose Dockerfiles are rarely what is published.
var aside = []string{"docs", "doc", "e2e", "example", "examples", "hack", "node_modules", "samples", "template", "templates", "test", "testdata", "tests", "third_party", "vendor"}

// Dockerfiles lists the Dockerfiles of a repository, sorted: of passed, which are
// in directories of tests, examples and documents, and of others.
func Dockerfiles(fsys fs.FS) (files, passed []string, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil // what cannot be read holds no image
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "vendor" || base == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !IsDockerfile(base):
		case slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(aside, dir) }):
			passed = append(passed, name)
		default:
			files = append(files, name)
		}
		return nil
	})
	return files, passed, err
}

var words = []string{"Dockerfile", "Containerfile"}

// notes are how files end that only look like a Dockerfile of their own.
var notes = []string{".in", ".tmpl", ".template", ".dockerignore", ".md", ".j2", ".swp", ".bak", ".orig"}

// IsDockerfile reports whether a file is called as Dockerfiles are.
func IsDockerfile(base string) bool {
	if slices.Contains(notes, strings.ToLower(path.Ext(base))) {
		return false
	}
	return slices.Contains(words, base) || ownName(base) != ""
}

// ownName is what the name of a Dockerfile says besides: app of app.Dockerfile
// and of Dockerfile.app.
func ownName(base string) string {
	for _, word := range words {
		if rest, ok := strings.CutPrefix(base, word+"."); ok {
			return rest
		}
		if rest, ok := strings.CutSuffix(base, "."+word); ok {
			return rest
		}
	}
	return ""
}

// Name proposes what the image of a Dockerfile is called: what the file's name
// says, else its directory, else the repository. legal makes a name that images
// can have; where another image of taken has it, the directories come in front.
func Name(file, repository string, legal func(string) string, taken []string) string {
	dir, own := path.Dir(file), ownName(path.Base(file))
	last := path.Base(dir)
	if dir == "." {
		dir, last = "", repository
	}
	name := legal(cmp.Or(own, last))
	if slices.Contains(taken, name) {
		name = legal(strings.Trim(strings.ReplaceAll(dir, "/", "-")+"-"+own, "-"))
	}
	return name
}
