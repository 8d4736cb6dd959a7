package build

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/archmage-go/archmage/build/adopt"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/run"
)

// place refuses a directory inside of a repository that is no project of its
// own.
func (a *adopter) place(ctx context.Context) error {
	top := a.git(ctx, "rev-parse", "--show-prefix")
	if a.checkout = top != nil; top == nil || *top == "" {
		return ctx.Err()
	}
	up := strings.TrimSuffix(strings.Repeat("../", strings.Count(*top, "/")), "/")
	hint := "archmage init -C " + up
	own := slices.ContainsFunc([]string{"go.mod", config.FileName, "Makefile", "GNUmakefile", "makefile", "Dockerfile", "Containerfile", "cmd", "dockerfiles"}, a.has)
	switch {
	case !own:
		return Usage(hint, "init: the repository begins at %s, and here is no project of its own", up)
	case a.o.GitHub:
		return Usage(hint+" --github", "init --github: workflows are in the root of the repository, which is %s", up)
	}
	a.notes = append(a.notes, "the repository begins at "+up+"; this is for "+strings.TrimSuffix(*top, "/")+" alone")
	return nil
}

func (a *adopter) has(name string) bool {
	root, err := a.fsys()
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Stat(name)
	return err == nil
}

// git is what git says here, or nil where it fails.
func (a *adopter) git(ctx context.Context, args ...string) *string {
	out, err := run.Output(ctx, a.runner, run.Cmd{Name: "git", Args: args, Dir: a.Root, Env: []string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"}, Reads: true})
	if err != nil {
		return nil
	}
	text := strings.TrimSpace(string(out))
	return &text
}

func (a *adopter) branch(ctx context.Context) string {
	for _, ref := range []string{"refs/remotes/origin/HEAD", "HEAD"} {
		if name := a.git(ctx, "symbolic-ref", "--short", ref); name != nil && *name != "" {
			return strings.TrimPrefix(*name, "origin/")
		}
	}
	return "main"
}

// ignored asks git, without what the user ignores everywhere.
func (a *adopter) ignored(ctx context.Context, name string) bool {
	if a.checkout {
		return a.git(ctx, "-c", "core.excludesFile=", "check-ignore", "-q", "--no-index", "--", name) != nil
	}
	data, err := os.ReadFile(a.path(".gitignore"))
	return err == nil && adopt.Ignores(data, name)
}

// proposedRegistry is where the owner of the remote repository has images; ""
// where that is not known or somebody has said it.
func (a *adopter) proposedRegistry() string {
	if _, set := a.make.Variables["REGISTRY"]; set || a.Registry != "" {
		return ""
	}
	host, repository, _ := strings.Cut(strings.TrimPrefix(a.Commit.Source, "https://"), "/")
	repository = strings.ToLower(repository)
	switch {
	case host == "github.com" && repository != "":
		owner, _, _ := strings.Cut(repository, "/")
		return legalRegistry("ghcr.io/" + owner)
	case host == "gitlab.com" && repository != "":
		return legalRegistry("registry.gitlab.com/" + repository)
	}
	return ""
}

func legalRegistry(text string) string {
	registry, err := config.CheckRegistry("", text)
	if err != nil {
		return ""
	}
	return registry
}

// repositoryName is what an image is called that has no name of its own.
func (a *adopter) repositoryName() string {
	for _, name := range []string{a.Commit.Source, a.module} {
		if base := path.Base(name); name != "" && base != "." {
			return base
		}
	}
	return filepath.Base(a.Root)
}
