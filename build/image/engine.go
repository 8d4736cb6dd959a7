package image

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"github.com/archmage-go/archmage/build/run"
)

// Log is where an engine's progress goes while it works.
type Log interface {
	io.WriteCloser
	Last() []string // its last lines
}

// Engine is what buildx and buildah have in common: a program that is run once
// per leg, in a directory of its own.
type Engine struct {
	Runner run.Runner
	Blobs  *Blobs
	Bases  *Bases               // that recipes were evaluated on; nil takes every layer for a new one
	Log    func(leg string) Log // of one leg's progress
	DryRun bool                 // Runner tells of commands: they make nothing that could be read
}

// ErrDryRun is that there is no image, since nothing was built.
var ErrDryRun = errors.New("not built in a dry run")

// FailedError says that an engine could not build a leg.
type FailedError struct {
	Engine  string
	Last    []string // what it said last
	Command string   // as one would type it
	Err     error
}

func (e *FailedError) Error() string {
	text := e.Err.Error() // which names the program
	if len(e.Last) > 0 {
		text += "; its last lines:\n    " + strings.Join(e.Last, "\n    ")
	}
	return text
}

func (e *FailedError) Unwrap() error { return e.Err }

// Hint is how to see it again.
func (e *FailedError) Hint() string { return "to repeat it by hand: " + e.Command }

// run starts the engine for one leg. What it writes to where cmd does not say
// is shown as progress. byHand is the command to show when it fails, since files
// that cmd names may be gone by then.
func (e Engine) run(ctx context.Context, name string, r Request, cmd, byHand run.Cmd) error {
	cmd.Group = true
	cmd.Without = r.withheld
	cmd.Dir = r.Root // which paths of the settings are relative to
	log := e.Log(r.leg())
	cmd.Stderr = log
	if cmd.Stdout == nil {
		cmd.Stdout = log
	}
	err := e.Runner.Run(ctx, cmd)
	err = errors.Join(err, log.Close())
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &FailedError{Engine: name, Last: log.Last(), Command: byHand.String(), Err: err}
}

// args are the arguments that both programs spell alike.
func (r Request) args() []string {
	args := []string{"--platform", r.Recipe.Platform.String()}
	if r.Recipe.Target != "" {
		args = append(args, "--target", r.Recipe.Target)
	}
	args = append(args, each("--build-arg", r.BuildArgs)...)
	args = append(args, each("--label", r.Labels)...)
	for _, s := range r.Secrets {
		args = append(args, "--secret", r.fromRoot(s))
	}
	for _, s := range r.SSH {
		args = append(args, "--ssh", s)
	}
	return args
}

// fromRoot makes a secret's path absolute, so that the command does the same
// wherever it is repeated.
func (r Request) fromRoot(secret string) string {
	fields := strings.Split(secret, ",")
	if strings.Contains(secret, `"`) || slices.Contains(fields, "type=env") {
		return secret
	}
	for i, f := range fields {
		if key, path, _ := strings.Cut(f, "="); (key == "src" || key == "source") && path != "" && !filepath.IsAbs(path) {
			fields[i] = key + "=" + filepath.Join(r.Root, path)
		}
	}
	return strings.Join(fields, ",")
}

func each(flag string, values map[string]string) []string {
	var args []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		args = append(args, flag, key+"="+values[key])
	}
	return args
}

// pinned makes an engine take mirrored bases from where they are, at the digest
// that they were resolved to. Each is named as BuildKit does, and as people do:
// buildah compares with what is written.
func pinned(r Request) []string {
	var args []string
	for _, p := range r.Pinned {
		names := []string{p.Ref}
		if named, err := reference.ParseNormalizedNamed(p.Ref); err == nil && reference.FamiliarString(named) != p.Ref {
			names = append(names, reference.FamiliarString(named))
		}
		for _, name := range names {
			args = append(args, "--build-context", name+"=docker-image://"+p.At)
		}
	}
	return args
}

// dockerfile is the path of the repository's own Dockerfile.
func (r Request) dockerfile() string {
	return filepath.Join(r.Root, filepath.FromSlash(r.Recipe.Dockerfile))
}

// ignoring gives the Dockerfile, and beside it the ignore file that counts and
// leaves out what is never part of a context. Where the ignore file of the
// repository does that already, the Dockerfile is the repository's own.
func (r Request) ignoring(dir string) (dockerfile string, err error) {
	dockerfile = r.dockerfile()
	if !exists(filepath.Join(r.Context, r.Omit)) || r.Omit == "" {
		return dockerfile, nil
	}
	patterns := append(slices.Clone(r.Recipe.Ignore.Patterns), r.Omit)
	copied := filepath.Join(dir, filepath.Base(dockerfile))
	data, err := os.ReadFile(dockerfile)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(copied, data, 0o644); err != nil {
		return "", err
	}
	return copied, os.WriteFile(copied+".dockerignore", []byte(strings.Join(patterns, "\n")+"\n"), 0o644)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
