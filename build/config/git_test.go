package config

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/archmage-go/archmage/build/run"
)

// checkout is a repository with one commit, of 2026-01-02T03:04:05Z.
type checkout struct {
	*testing.T
	dir string
}

func newCheckout(t *testing.T) checkout {
	t.Helper()
	if _, err := (run.OS{}).Find("git"); err != nil {
		t.Skip("no git")
	}
	c := checkout{t, t.TempDir()}
	for name, value := range map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull, "HOME": t.TempDir(), "GIT_CEILING_DIRECTORIES": filepath.Dir(c.dir),
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
		"GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
	} {
		t.Setenv(name, value)
	}
	c.git("init", "-q", "-b", "main")
	c.commit("file", "one")
	return c
}

func (c checkout) git(args ...string) string {
	c.Helper()
	out, err := run.Output(c.Context(), run.OS{}, run.Cmd{Name: "git", Args: args, Dir: c.dir})
	if err != nil {
		c.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func (c checkout) write(name, text string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		c.Fatal(err)
	}
}

func (c checkout) commit(name, text string) {
	c.Helper()
	c.write(name, text)
	c.git("add", "-A")
	c.git("commit", "-qm", text)
}

func (c checkout) read() Commit {
	c.Helper()
	commit, err := readCommit(c.Context(), run.OS{}, c.dir)
	if err != nil {
		c.Fatal(err)
	}
	return commit
}

func TestVersionsOfACheckout(t *testing.T) {
	c := newCheckout(t)
	head := c.git("rev-parse", "HEAD")
	is := func(version, revision string) {
		t.Helper()
		got := c.read()
		if got.Version != version || got.Revision != revision {
			t.Errorf("%+v, want %s, %s", got, version, revision)
		}
	}
	is(head[:7], head)
	c.git("tag", "release-1") // no version
	is(head[:7], head)
	c.git("tag", "v1.2.3")
	is("v1.2.3", head)
	c.write("untracked", "x")
	is("v1.2.3", head)
	c.write("file", "two")
	is("v1.2.3-dirty", head+"-dirty")
	c.commit("file", "three")
	head = c.git("rev-parse", "HEAD")
	is("v1.2.3-1-g"+head[:7], head)
	c.git("tag", "2.0.0")
	is("2.0.0", head)
	if got := c.read().Time; !got.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) || got.Location() != time.UTC {
		t.Error(got)
	}
}

// git describe --dirty refreshes the index that it reads. A COPY of the whole
// context would then copy other bytes each time.
func TestTheIndexIsNotTouched(t *testing.T) {
	c := newCheckout(t)
	c.git("tag", "v1.0.0")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(c.dir, "file"), later, later); err != nil { // what git has noted is stale
		t.Fatal(err)
	}
	index := filepath.Join(c.dir, ".git", "index")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(index)
	if got := c.read().Version; got != "v1.0.0" {
		t.Errorf("a changed time counts as a change: %s", got)
	}
	after, _ := os.ReadFile(index)
	again, _ := os.Stat(index)
	if !bytes.Equal(before, after) || !info.ModTime().Equal(again.ModTime()) {
		t.Error(".git/index was rewritten")
	}
	if entries, _ := filepath.Glob(filepath.Join(os.TempDir(), "archmage-index-*")); len(entries) > 0 {
		for _, e := range entries {
			if data, _ := os.ReadFile(e); bytes.Equal(data, before) {
				t.Errorf("left behind: %s", e)
			}
		}
	}
}

func TestWorktreesAndSubdirectories(t *testing.T) {
	c := newCheckout(t)
	c.git("tag", "v1.0.0")
	other := checkout{t, filepath.Join(t.TempDir(), "tree")}
	c.git("worktree", "add", "-q", other.dir, "-b", "side")
	if got := other.read().Version; got != "v1.0.0" {
		t.Error(got)
	}
	other.write("file", "changed")
	if got := other.read().Version; got != "v1.0.0-dirty" {
		t.Error(got)
	}
	if err := os.Mkdir(filepath.Join(c.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := (checkout{t, filepath.Join(c.dir, "sub")}).read().Version; got != "v1.0.0" {
		t.Error(got)
	}
}

func TestWithoutCommitsOrGitItIsDev(t *testing.T) {
	c := newCheckout(t)
	empty := checkout{t, t.TempDir()}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(empty.dir))
	if got := empty.read(); got != (Commit{Version: "dev"}) {
		t.Errorf("no checkout: %+v", got)
	}
	empty.git("init", "-q")
	if got := empty.read(); got != (Commit{Version: "dev"}) {
		t.Errorf("no commit: %+v", got)
	}
	if got, err := readCommit(t.Context(), noGit{}, c.dir); err != nil || got != (Commit{Version: "dev", Unknown: "git is not on PATH"}) {
		t.Errorf("no git: %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readCommit(ctx, run.OS{}, c.dir); err == nil {
		t.Error("a cancelled context is no development version")
	}
}

// A tag can be a version that no image tag can be; nothing is changed in silence.
func TestAGitTagThatIsNoImageTag(t *testing.T) {
	c := newCheckout(t)
	c.git("tag", "v1.0.0+build")
	_, err := Load(t.Context(), Source{Root: c.dir, Env: []string{}, Runner: run.OS{}})
	if got := texts(t, err); len(got) != 1 || got[0] != `VERSION from git describe: "v1.0.0+build" is no legal tag | write v1.0.0-build` {
		t.Errorf("%q", got)
	}
	s, err := Load(t.Context(), Source{Root: c.dir, Env: []string{"VERSION=v1"}, Runner: run.OS{}})
	if err != nil || s.Version != "v1" {
		t.Errorf("%v", err)
	}
}

func TestTheSourceIsALinkWithoutCredentials(t *testing.T) {
	for remote, want := range map[string]string{
		"https://github.com/org/repo.git":            "https://github.com/org/repo",
		"https://bob:pa55@github.com/org/repo":       "https://github.com/org/repo",
		"https://x-access-token:t0@github.com/o/r/":  "https://github.com/o/r",
		"https://host.example:8443/o/r.git?token=t0": "https://host.example:8443/o/r",
		"git@github.com:org/repo.git":                "https://github.com/org/repo",
		"github.com:org/repo":                        "https://github.com/org/repo",
		"ssh://git@github.com:22/org/repo.git":       "https://github.com/org/repo",
		"git://host/o/r":                             "https://host/o/r",
		"http://host/o/r":                            "http://host/o/r",
		"/srv/git/repo.git":                          "",
		"../repo":                                    "",
		"file:///srv/git/repo.git":                   "",
		`C:\repos\x`:                                 "",
		"https://%zz":                                "",
		"":                                           "",
	} {
		if got := sourceURL(remote); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
	c := newCheckout(t)
	c.git("remote", "add", "origin", "https://bob:pa55@example.com/o/r.git")
	if got := c.read().Source; got != "https://example.com/o/r" {
		t.Error(got)
	}
}

// A checkout that git cannot read is none without a version: it is one whose
// version nobody knows.
func TestVersionsThatGitCannotSay(t *testing.T) {
	c := newCheckout(t)
	if why := c.read().Unknown; why != "" {
		t.Errorf("a sound checkout is unknown: %s", why)
	}
	sub := filepath.Join(c.dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	load := func(root string, env ...string) *Settings {
		t.Helper()
		s, err := Load(t.Context(), Source{Root: root, Env: env, Runner: run.OS{}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := os.WriteFile(filepath.Join(c.dir, ".git", "HEAD"), []byte("broken"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := load(c.dir); s.Version != "dev" || !strings.Contains(s.NoVersion, "fatal: ") || strings.Contains(s.NoVersion, "\n") {
		t.Errorf("version %q, unknown %q", s.Version, s.NoVersion)
	}
	t.Setenv("PATH", "")
	if s := load(sub); s.NoVersion != "git is not on PATH" {
		t.Errorf("without git: %q", s.NoVersion)
	}
	if s := load(sub, "VERSION=v1"); s.NoVersion != "" {
		t.Errorf("with a version: %q", s.NoVersion)
	}
	if s := load(t.TempDir()); s.NoVersion != "" || s.Version != "dev" {
		t.Errorf("outside of a checkout: %q, version %q", s.NoVersion, s.Version)
	}
}
