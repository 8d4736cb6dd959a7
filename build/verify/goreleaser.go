package verify

import (
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// releaserFiles is where goreleaser looks for its settings.
var releaserFiles = []string{
	".goreleaser.yaml", ".goreleaser.yml", "goreleaser.yaml", "goreleaser.yml",
	".config/goreleaser.yaml", ".config/goreleaser.yml",
}

// releaser is the part of goreleaser's settings that names Dockerfiles.
type releaser struct {
	Dockers   []releaserImage `yaml:"dockers"`
	DockersV2 []releaserImage `yaml:"dockers_v2"`
}

type releaserImage struct {
	Dockerfile string `yaml:"dockerfile"` // "" is Dockerfile; may be a template
}

var templated = regexp.MustCompile(`\{\{.*?\}\}`)

// foreignContext reports whether goreleaser builds this image's Dockerfile. It
// does so in a context of its own with one platform's binaries in it, so what
// such a file copies from elsewhere than the directory of binaries is not wrong.
func (s *state) foreignContext() bool { return s.releaserFile() != "" }

// releaserFile is the file of goreleaser's settings that names this image's
// Dockerfile, or "".
func (s *state) releaserFile() string {
	if s.Root == nil {
		return ""
	}
	for _, name := range releaserFiles {
		data, err := fs.ReadFile(s.Root, name)
		if err != nil {
			continue
		}
		var settings releaser
		if yaml.Unmarshal(data, &settings) != nil {
			continue // not ours to report
		}
		for _, image := range slices.Concat(settings.Dockers, settings.DockersV2) {
			if s.builtFrom(cmp.Or(image.Dockerfile, "Dockerfile")) {
				return name
			}
		}
	}
	return ""
}

// builtFrom compares the image's Dockerfile with a path that may be a template.
func (s *state) builtFrom(file string) bool {
	pattern := path.Clean(templated.ReplaceAllString(file, "*"))
	return slices.ContainsFunc(s.judged(), func(r *dockerfile.Recipe) bool {
		ok, _ := path.Match(pattern, r.Dockerfile)
		return ok
	})
}
