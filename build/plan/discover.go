package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

// Command is a main package that can be compiled.
type Command struct {
	Name       string              `json:"name"`
	Dir        string              `json:"dir"`               // slash path from the root
	Module     string              `json:"module"`            // directory that the go command is run in, likewise
	ImportPath string              `json:"import_path"`       // of the package
	Platforms  []platform.Platform `json:"platforms"`         // of those asked for: where build constraints leave it a main package
	Rebuilt    string              `json:"rebuilt,omitempty"` // why its image needs no binary of it; filled in by [New]
}

// Skipped is a directory that holds no command or image, and why.
type Skipped struct {
	Dir    string `json:"dir"` // slash path from the root
	Reason string `json:"reason"`
}

// Discovered is what [Commands] found, both sorted: by name, and by directory.
type Discovered struct {
	Commands []Command
	Skipped  []Skipped
}

// legal names can be part of a file's name and of an image's (the path
// component of the OCI distribution specification).
var legal = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$`)

// Commands finds the main packages below cmd/ of the repository at root (an
// absolute path) and of its nested modules, as the go command sees them when it
// builds for each platform. Where cmd/ holds none, a main package in the root is
// one. Without go.mod there are none, and go is not run.
//
// env is added to the go command's environment; CGO_ENABLED is 0 unless it says
// otherwise. A nested module that go cannot list is skipped with go's own words,
// the root's is an error ([*GoError]). Two commands with one name are a
// [*UsageError].
func Commands(ctx context.Context, r run.Runner, root string, platforms []platform.Platform, env ...string) (Discovered, error) {
	s, err := scan(root)
	if err != nil {
		return Discovered{}, fmt.Errorf("find commands: %w", err)
	}
	packages, failed, err := s.list(ctx, r, root, platforms, env)
	if err != nil {
		return Discovered{}, err
	}
	d := discovery{sources: s, packages: packages, failed: failed}
	return d.result(platforms)
}

// discovery sorts directories into commands and others.
type discovery struct {
	sources
	packages map[string][]goPackage // by directory: what go says of it, per platform
	failed   map[string]string      // by module: why go could not list it
}

func (d discovery) result(platforms []platform.Platform) (Discovered, error) {
	found := Discovered{Skipped: d.skipped}
	for _, dir := range slices.Sorted(maps.Keys(d.dirs)) {
		c := d.command(dir, platforms)
		reason := ""
		switch {
		case len(c.Platforms) == 0:
			reason = d.reason(dir)
		case !legal.MatchString(c.Name):
			reason = fmt.Sprintf("%q cannot name an image: use lower-case letters and digits, with single dots, dashes or underscores between", c.Name)
		}
		if reason != "" {
			found.Skipped = append(found.Skipped, Skipped{Dir: dir, Reason: reason})
			continue
		}
		found.Commands = append(found.Commands, c)
	}
	found.dropRoot()
	slices.SortFunc(found.Commands, func(a, b Command) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Dir, b.Dir)) })
	slices.SortFunc(found.Skipped, func(a, b Skipped) int { return cmp.Compare(a.Dir, b.Dir) })
	if err := clashes(found.Commands); err != nil {
		return Discovered{}, err
	}
	return found, nil
}

// command is the command in dir. It has no platforms where there is none.
func (d discovery) command(dir string, platforms []platform.Platform) Command {
	c := Command{Dir: dir, Module: d.dirs[dir].module}
	for i, p := range d.packages[dir] {
		if p.isMain() {
			c.ImportPath = p.ImportPath
			c.Platforms = append(c.Platforms, platforms[i])
		}
	}
	c.Name = commandName(c)
	return c
}

// commandName is the directory's last element. A main package in cmd/ itself or
// in the root is named after the module.
func commandName(c Command) string {
	switch {
	case c.Dir == ".":
		return moduleName(c.ImportPath)
	case path.Base(c.Dir) == "cmd":
		return moduleName(strings.TrimSuffix(c.ImportPath, "/cmd"))
	}
	return path.Base(c.Dir)
}

// reason says why no platform builds a command from dir.
func (d discovery) reason(dir string) string {
	if text, ok := d.failed[d.dirs[dir].module]; ok {
		return text
	}
	if len(d.dirs[dir].files) == 0 {
		return "only tests"
	}
	for _, p := range d.packages[dir] {
		switch {
		case p.Name != "" && p.Name != "main":
			return "package " + p.Name
		case p.Name == "" && p.Error != nil && p.ImportPath != ".":
			return strings.TrimSpace(p.Error.Err)
		}
	}
	return "excluded by build constraints: " + strings.Join(d.dirs[dir].files, ", ")
}

// dropRoot leaves out the main package of the root where cmd/ has commands:
// projects keep helpers there.
func (f *Discovered) dropRoot() {
	i := slices.IndexFunc(f.Commands, func(c Command) bool { return c.Dir == "." })
	if i >= 0 && slices.ContainsFunc(f.Commands, func(c Command) bool { return c.Dir == "cmd" || strings.HasPrefix(c.Dir, "cmd/") }) {
		f.Commands = slices.Delete(f.Commands, i, i+1)
		f.Skipped = append(f.Skipped, Skipped{Dir: ".", Reason: "the programs of this repository are in cmd"})
	}
}

// clashes reports every name that several of the commands, sorted by name, have.
func clashes(commands []Command) error {
	var errs []error
	for i := 0; i < len(commands); {
		name, dirs := commands[i].Name, []string{}
		for ; i < len(commands) && commands[i].Name == name; i++ {
			dirs = append(dirs, commands[i].Dir)
		}
		if len(dirs) > 1 {
			errs = append(errs, usage("command "+name, "rename all but one of the directories", "%d directories make it: %s", len(dirs), strings.Join(dirs, ", ")))
		}
	}
	return errors.Join(errs...)
}
