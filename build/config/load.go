package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

// FileName is the optional settings file in the root of the repository.
const FileName = "archmage.yaml"

// Source is where settings are read from.
type Source struct {
	Root   string            // directory of the repository; "" is the working directory
	Flags  map[string]string // by variable name, only those given
	Env    []string          // KEY=value; nil is the process's
	Runner run.Runner        // starts git

	DryRun bool // for Settings
}

// Load reads and checks every setting. All that is wrong is reported at once,
// each as an *[Error].
func Load(ctx context.Context, src Source) (*Settings, error) {
	root, err := filepath.Abs(src.Root)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	if src.Env == nil {
		src.Env = os.Environ()
	}
	s := defaults(root)
	s.DryRun = src.DryRun
	env := environment(src.Env)
	errs := []error{s.applyFile(filepath.Join(root, FileName)), s.applyEnv(env), s.applyFlags(src.Flags)}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.Auth = Auth{DockerConfig: env["DOCKER_CONFIG"], AuthFile: env["REGISTRY_AUTH_FILE"], GitHubToken: env["GITHUB_TOKEN"]}
	s.GitHub = GitHub{
		Actions: env["GITHUB_ACTIONS"] == "true", Workspace: env["GITHUB_WORKSPACE"],
		Output: env["GITHUB_OUTPUT"], Summary: env["GITHUB_STEP_SUMMARY"],
	}
	if s.Commit, err = readCommit(ctx, src.Runner, root); err != nil {
		return nil, err
	}
	return s, s.finish()
}

// Console reads the settings of the console alone, which no file has, so that
// whatever is wrong with the others is said as it is wanted. Other fields are
// their defaults.
func Console(src Source) (*Settings, error) {
	if src.Env == nil {
		src.Env = os.Environ()
	}
	env, flags := map[string]string{}, map[string]string{}
	all := environment(src.Env)
	for _, v := range variables {
		if value, given := src.Flags[v.Name]; given && v.Group == GroupConsole {
			flags[v.Name] = value
		}
		if value, set := all[v.Name]; set && v.Group == GroupConsole {
			env[v.Name] = value
		}
	}
	s := defaults(src.Root)
	return s, errors.Join(s.applyEnv(env), s.applyFlags(flags))
}

func environment(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, kv := range list {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	return env
}

// finish fills in what follows from other settings.
func (s *Settings) finish() error {
	if s.Version == "" {
		s.Version = s.Commit.Version
		s.NoVersion = s.Commit.Unknown
		if err := checkTag(s.Version); err != nil {
			return located("VERSION from git describe", err)
		}
	}
	if s.SourceVersion == "" {
		s.SourceVersion = s.Version
	}
	if s.MediaTypes == "docker" && s.Compression == "zstd" {
		return Errorf(s.From["IMAGE_COMPRESSION"], "use gzip, or IMAGE_MEDIA_TYPES=oci", "Docker's media types have none for zstd layers")
	}
	if s.MediaTypes == "docker" && len(s.Annotations.List) > 0 {
		s.Notes = append(s.Notes, "IMAGE_ANNOTATIONS is left out: Docker's media types have none")
	}
	if s.Push && s.Registry == "" {
		return Errorf(s.From["PUSH"], "e.g. REGISTRY=ghcr.io/org", "PUSH needs REGISTRY")
	}
	return nil
}

func (s *Settings) applyEnv(env map[string]string) error {
	var errs []error
	for _, v := range variables {
		name := v.Name
		value, set := env[name]
		if value == "" && v.Alias != "" && env[v.Alias] != "" && !set {
			name, value = v.Alias, env[v.Alias]
		}
		if value == "" && !(set && v.Name == "IMAGE_PLATFORMS") {
			continue
		}
		errs = append(errs, s.set(v, value, name+" in the environment"))
	}
	return errors.Join(append(errs, s.applyCompilers(env))...)
}

// applyCompilers reads CC_<os>_<arch>[<variant>].
func (s *Settings) applyCompilers(env map[string]string) error {
	var errs []error
	for _, name := range compilerNames(env) {
		os, arch, _ := strings.Cut(strings.TrimPrefix(name, "CC_"), "_")
		p, ok := platform.Named(arch)
		if ok {
			p.OS = os
			p, ok = normal(p)
		}
		if !ok {
			continue // other tools have variables of this form too
		}
		if env[name] != "" {
			s.CC[p] = env[name]
			s.From[name], s.given[name] = name+" in the environment", env[name]
		}
	}
	return errors.Join(errs...)
}

func normal(p platform.Platform) (platform.Platform, bool) {
	q, err := platform.Parse(p.String())
	return q, err == nil
}

func compilerNames(env map[string]string) []string {
	var names []string
	for name := range env {
		if strings.HasPrefix(name, "CC_") {
			names = append(names, name)
		}
	}
	return unique(sortedCopy(names))
}

func (s *Settings) applyFlags(flags map[string]string) error {
	var errs []error
	for _, v := range variables {
		if value, given := flags[v.Name]; given {
			if value == "" && v.Name != "IMAGE_PLATFORMS" {
				continue
			}
			errs = append(errs, s.set(v, value, "--"+v.Flag()))
		}
	}
	return errors.Join(errs...)
}

// set checks one value and remembers where it came from.
func (s *Settings) set(v Variable, value, where string) error {
	if err := v.parse(s, value); err != nil {
		return located(where, err)
	}
	s.From[v.Name], s.given[v.Name] = where, value
	return nil
}

// located says where a bad value came from.
func located(where string, err error) error {
	var p *problem
	if errors.As(err, &p) {
		return &Error{Where: where, Cause: p.cause, hint: p.hint}
	}
	return &Error{Where: where, Cause: err.Error()}
}
