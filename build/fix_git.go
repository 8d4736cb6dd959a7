package build

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/archmage-go/archmage/build/run"
)

// committed refuses a file that git could not bring back as it is: one with
// changes that are not committed, and one that it does not track. Without a
// repository there is nothing to ask.
func (p *Project) committed(ctx context.Context, verb string, file *rewritten) error {
	refuse := func(why string) error {
		return Usage("commit or stash it, or use --force", "%s: %s: %s", verb, file.name, why)
	}
	dir, base := filepath.Split(file.path)
	git := func(args ...string) (string, error) {
		out, err := run.Output(ctx, p.runner, run.Cmd{
			Name: "git", Args: append([]string{"--literal-pathspecs"}, append(args, "--", base)...), Dir: dir,
			Env:   []string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"}, // a refreshed index would be another file in the context
			Reads: true,
		})
		return string(out), err
	}
	// Its tag is H for a file that is compared with what is on the disk, which
	// people can turn off.
	tag, err := git("ls-files", "-v", "-z", "--error-unmatch")
	var exit *run.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !inCheckout(dir):
		return nil
	case err != nil && errors.As(err, &exit) && exit.Code == 1:
		return refuse("git does not track it")
	case err != nil:
		return refuse("whether it has uncommitted changes is unknown: " + err.Error())
	case !strings.HasPrefix(tag, "H "):
		return refuse("git does not look at it")
	}
	status, err := git("status", "--porcelain", "-z", "--untracked-files=no")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return refuse("whether it has uncommitted changes is unknown: " + err.Error())
	case status != "":
		return refuse("it has uncommitted changes")
	}
	return nil
}

// inCheckout reports whether a directory belongs to a git checkout, git or no
// git.
func inCheckout(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}
