package config

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/archmage-go/archmage/build/run"
)

// Commit is what git says of a checkout. Outside of one, Version is "dev" and
// the rest is zero.
type Commit struct {
	Version  string    // git describe, or dev
	Revision string    // full hash, with -dirty where tracked files were changed
	Time     time.Time // the commit's own, UTC
	Source   string    // remote origin as an https URL without credentials, or ""
	Unknown  string    // why git cannot say, though there is a checkout; or ""
}

const dirtySuffix = "-dirty"

// readCommit asks git. No checkout and no commit yet are no errors: what is
// built then is a development version. Nor is a checkout that git cannot read,
// but what is published from there needs a VERSION.
func readCommit(ctx context.Context, r run.Runner, root string) (Commit, error) {
	c := Commit{Version: "dev"}
	out, err := git(ctx, r, root, nil, "log", "-1", "--format=%H %ct")
	if err != nil {
		c.Unknown = unknown(ctx, r, root)
		return c, ctx.Err()
	}
	hash, seconds, _ := strings.Cut(strings.TrimSpace(out), " ")
	sec, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return c, nil
	}
	c.Revision, c.Time = hash, time.Unix(sec, 0).UTC()
	if c.Version, err = describe(ctx, r, root); err != nil {
		return Commit{}, err
	}
	if strings.HasSuffix(c.Version, dirtySuffix) {
		c.Revision += dirtySuffix
	}
	if out, err = git(ctx, r, root, nil, "config", "--get", "remote.origin.url"); err == nil {
		c.Source = sourceURL(strings.TrimSpace(out))
	}
	return c, ctx.Err()
}

// unknown says why git cannot read the checkout that root lies in: there is no
// git in a container, or another user owns the files. "" where root lies in none,
// or in one without a commit.
func unknown(ctx context.Context, r run.Runner, root string) string {
	if !inCheckout(root) {
		return ""
	}
	if _, err := r.Find("git"); err != nil {
		return "git is not on PATH"
	}
	_, err := git(ctx, r, root, nil, "rev-parse", "--git-dir")
	if err == nil {
		return ""
	}
	why, _, _ := strings.Cut(err.Error(), "\n")
	return why
}

// inCheckout reports whether root or a directory above it has a .git.
func inCheckout(root string) bool {
	for dir := root; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// describe works on a copy of the index: `git describe --dirty` refreshes the
// index it reads, and a whole-context COPY would then copy other bytes than
// before.
func describe(ctx context.Context, r run.Runner, root string) (string, error) {
	index, err := copyIndex(ctx, r, root)
	if err != nil {
		return "", err
	}
	var env []string
	if index != "" {
		defer os.Remove(index)
		env = []string{"GIT_INDEX_FILE=" + index}
	}
	out, err := git(ctx, r, root, env, "describe", "--tags", "--always", "--dirty", "--match", "v[0-9]*", "--match", "[0-9]*")
	return strings.TrimSpace(out), err
}

func copyIndex(ctx context.Context, r run.Runner, root string) (string, error) {
	out, err := git(ctx, r, root, nil, "rev-parse", "--git-path", "index")
	if err != nil {
		return "", err
	}
	from := strings.TrimSpace(out)
	if !filepath.IsAbs(from) {
		from = filepath.Join(root, from)
	}
	data, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	to, err := os.CreateTemp("", "archmage-index-")
	if err != nil {
		return "", err
	}
	_, err = to.Write(data)
	return to.Name(), errors.Join(err, to.Close())
}

func git(ctx context.Context, r run.Runner, root string, env []string, args ...string) (string, error) {
	out, err := run.Output(ctx, r, run.Cmd{Name: "git", Args: args, Dir: root, Env: append(env, "LC_ALL=C"), Reads: true})
	return string(out), err
}

// sourceURL turns a remote into a link for people: scp-like and ssh remotes
// become https, credentials are dropped, local paths say nothing to others.
func sourceURL(remote string) string {
	if host, path, ok := strings.Cut(remote, ":"); ok && !strings.Contains(remote, "://") && !strings.Contains(host, "/") && len(host) > 1 {
		_, host, _ = cutLast(host, "@")
		remote = "https://" + host + "/" + path
	}
	u, err := url.Parse(remote)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "ssh", "git"}, u.Scheme) {
		return ""
	}
	if u.Scheme == "ssh" || u.Scheme == "git" {
		u.Scheme, u.Host = "https", u.Hostname()
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), ".git")
	return u.String()
}

// cutLast is strings.Cut at the last separator; without one, after is all.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

func sortedCopy(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
