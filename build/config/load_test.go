package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/run"
)

// noGit is a machine without git.
type noGit struct{}

func (noGit) Run(context.Context, run.Cmd) error { return errors.New("git: not found on PATH") }
func (noGit) Find(string) (string, error)        { return "", errors.New("not found") }

// load reads the settings of a directory that holds archmage.yaml, if any, and
// is no checkout.
func load(t *testing.T, yaml string, flags map[string]string, env ...string) (*Settings, error) {
	t.Helper()
	root := t.TempDir()
	if yaml != "" {
		if err := os.WriteFile(filepath.Join(root, FileName), []byte(yaml), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Load(t.Context(), Source{Root: root, Flags: flags, Env: append([]string{}, env...), Runner: noGit{}})
}

func must(t *testing.T, yaml string, flags map[string]string, env ...string) *Settings {
	t.Helper()
	s, err := load(t, yaml, flags, env...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// texts are the messages of everything joined into err, each with its hint.
func texts(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var list []string
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, e := range all {
		if nested, ok := e.(interface{ Unwrap() []error }); ok {
			list = append(list, texts(t, errors.Join(nested.Unwrap()...))...)
			continue
		}
		var known *Error
		if !errors.As(e, &known) {
			t.Errorf("%v is no *Error", e)
			continue
		}
		list = append(list, known.Error()+" | "+known.Hint())
	}
	return list
}

func TestDefaults(t *testing.T) {
	s := must(t, "", nil)
	if got := platforms(s.Platforms); got != "linux/amd64 linux/arm64" || s.PlatformsSet {
		t.Errorf("platforms %s, set %v", got, s.PlatformsSet)
	}
	if s.Version != "dev" || s.SourceVersion != "dev" || s.Out != "dist" || s.Push || !s.Verify || s.Jobs < 1 || s.RetryDelay != time.Second {
		t.Errorf("%+v", s)
	}
	if len(s.From) != 0 || s.Epoch != nil || s.Commit.Revision != "" {
		t.Errorf("%v %v %v", s.From, s.Epoch, s.Commit)
	}
	if !filepath.IsAbs(s.Root) {
		t.Error(s.Root)
	}
}

// What the table of variables says is the default is what Load gives.
func TestDocumentedDefaultsAreTheDefaults(t *testing.T) {
	s := must(t, "", nil)
	spoken := map[string]bool{ // words for people, not values
		"all": true, "as set": true, "last stage": true, "CPUs": true,
		"VERSION without a leg's suffix": true, "git describe, else dev": true, "VERSION": true,
	}
	for _, v := range Variables() {
		if v.Default == "" || spoken[v.Default] {
			continue
		}
		again := defaults(s.Root)
		if err := v.parse(again, v.Default); err != nil {
			t.Errorf("%s: its default %q: %v", v.Name, v.Default, err)
		}
		again.PlatformsSet = false
		if !equal(again, defaults(s.Root)) {
			t.Errorf("%s: %q is not what is used without it", v.Name, v.Default)
		}
	}
}

func equal(a, b *Settings) bool {
	return platforms(a.Platforms) == platforms(b.Platforms) && platforms(a.Release) == platforms(b.Release) &&
		a.Bin == b.Bin && a.LDFlags == b.LDFlags && a.CGO == b.CGO && a.Engine == b.Engine && a.Verify == b.Verify &&
		a.Labels.Auto == b.Labels.Auto && a.Annotations.Auto == b.Annotations.Auto && a.Out == b.Out &&
		a.MediaTypes == b.MediaTypes && a.Compression == b.Compression && a.Load == b.Load && a.ContainerTool == b.ContainerTool &&
		a.Cache == b.Cache && a.Leg == b.Leg && a.Push == b.Push && a.Force == b.Force && a.RetryMax == b.RetryMax && a.RetryDelay == b.RetryDelay
}

func platforms(list []platform.Platform) string {
	var words []string
	for _, p := range list {
		words = append(words, p.String())
	}
	return strings.Join(words, " ")
}

func TestFlagEnvironmentFileDefault(t *testing.T) {
	const yaml = "version: file\nout: file\nbin: f/{name}-{arch}\n"
	s := must(t, yaml, map[string]string{"VERSION": "flag"}, "VERSION=env", "IMAGE_OUT=env")
	if s.Version != "flag" || s.Out != "env" || s.Bin != "f/{name}-{arch}" || s.Leg != "{version}-{arch}{variant}" {
		t.Errorf("%s %s %s %s", s.Version, s.Out, s.Bin, s.Leg)
	}
	for name, where := range map[string]string{"VERSION": "--version", "IMAGE_OUT": "IMAGE_OUT in the environment", "IMAGE_BIN": "archmage.yaml:3:6", "IMAGE_LEG": ""} {
		if s.From[name] != where {
			t.Errorf("%s comes from %q, want %q", name, s.From[name], where)
		}
	}
	if s.SourceVersion != "flag" {
		t.Errorf("SOURCE_VERSION %s", s.SourceVersion)
	}
}

func TestSetButEmptyCountsAsUnset(t *testing.T) {
	var env []string
	for _, v := range Variables() {
		if v.Name != "IMAGE_PLATFORMS" {
			env = append(env, v.Name+"=")
		}
	}
	s := must(t, "version: file\n", map[string]string{"IMAGE_OUT": ""}, append(env, "PLATFORMS=")...)
	if s.Version != "file" || s.Out != "dist" || s.PlatformsSet || len(s.From) != 1 {
		t.Errorf("%s %s %v", s.Version, s.Out, s.From)
	}
	for _, src := range []struct {
		yaml  string
		flags map[string]string
		env   []string
	}{
		{"", nil, []string{"IMAGE_PLATFORMS="}},
		{"", nil, []string{"IMAGE_PLATFORMS= , "}},
		{"", map[string]string{"IMAGE_PLATFORMS": ""}, nil},
		{"platforms: []\n", nil, nil},
		{"platforms:\n", nil, nil},
	} {
		_, err := load(t, src.yaml, src.flags, src.env...)
		if list := texts(t, err); len(list) != 1 || !strings.Contains(list[0], "the list of platforms is empty") {
			t.Errorf("%+v: %q", src, list)
		}
	}
}

func TestAliasesOfPlatforms(t *testing.T) {
	if got := platforms(must(t, "", nil, "PLATFORMS=linux/s390x").Platforms); got != "linux/s390x" {
		t.Error(got)
	}
	if got := platforms(must(t, "", nil, "PLATFORMS=linux/s390x", "IMAGE_PLATFORMS=linux/arm").Platforms); got != "linux/arm/v7" {
		t.Error(got)
	}
	if list := texts(t, second(load(t, "", nil, "PLATFORMS=x"))); len(list) != 1 || !strings.HasPrefix(list[0], "PLATFORMS in the environment: ") {
		t.Error(list)
	}
	s := must(t, "", nil, "IMAGE_PLATFORMS=linux/arm64,linux/aarch64 linux/arm64/v8")
	want := []string{"platform linux/aarch64 is listed twice; built once", "platform linux/arm64/v8 is listed twice; built once"}
	if platforms(s.Platforms) != "linux/arm64" || !slices.Equal(s.Notes, want) {
		t.Errorf("%s, notes %q", platforms(s.Platforms), s.Notes)
	}
}

func second(_ *Settings, err error) error { return err }

func TestEverythingWrongIsReportedInOrder(t *testing.T) {
	_, err := load(t, "jobs: 0\nversion: a:b\n", map[string]string{"PUSH": "maybe"}, "IMAGE_JOBS=x", "IMAGE_OUT=/tmp")
	want := []string{
		`archmage.yaml:1:7: "0" is not a whole number from 1 to 1024 | `,
		`archmage.yaml:2:10: "a:b" is no legal tag | write a-b`,
		`IMAGE_OUT in the environment: "/tmp" lies outside of the repository | write a path relative to the repository`,
		`IMAGE_JOBS in the environment: "x" is not a whole number from 1 to 1024 | `,
		`--push: "maybe" is neither true nor false | write true or false`,
	}
	if got := texts(t, err); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSettingsThatDoNotGoTogether(t *testing.T) {
	for _, c := range []struct{ env, says string }{
		{"PUSH=true", "PUSH in the environment: PUSH needs REGISTRY | e.g. REGISTRY=ghcr.io/org"},
		{"PUSH=true REGISTRY=ghcr.io/org", ""},
		{"IMAGE_MEDIA_TYPES=docker IMAGE_COMPRESSION=zstd", "IMAGE_COMPRESSION in the environment: Docker's media types have none for zstd layers | use gzip, or IMAGE_MEDIA_TYPES=oci"},
		{"IMAGE_COMPRESSION=zstd", ""},
	} {
		_, err := load(t, "", nil, strings.Fields(c.env)...)
		if got := strings.Join(texts(t, err), "\n"); got != c.says {
			t.Errorf("%s: %q, want %q", c.env, got, c.says)
		}
	}
}

func TestCompilersByPlatform(t *testing.T) {
	s := must(t, "", nil, "CC_linux_arm64=aarch64-gcc", "CC_linux_armv6=six", "CC_linux_x86_64=", "CC_FOR_TARGET=x", "CC_darwin_arm64=clang")
	want := map[string]string{"linux/arm64": "aarch64-gcc", "linux/arm/v6": "six", "darwin/arm64": "clang"}
	if len(s.CC) != len(want) {
		t.Errorf("%v", s.CC)
	}
	for name, cc := range want {
		if p, err := platform.Parse(name); err != nil || s.CC[p] != cc {
			t.Errorf("%s: %q, %v", name, s.CC[p], err)
		}
	}
}

func TestCredentialsAreReadAndNeverPrinted(t *testing.T) {
	s := must(t, "", nil, "GITHUB_TOKEN=t0ken", "DOCKER_CONFIG=/d", "REGISTRY_AUTH_FILE=/f")
	if s.Auth != (Auth{DockerConfig: "/d", AuthFile: "/f", GitHubToken: "t0ken"}) {
		t.Errorf("%+v", s.Auth)
	}
	for _, kv := range []string{"REGISTRY=bob:t0ken@ghcr.io/x", "REGISTRY=https://bob:t0ken@ghcr.io/x", "IMAGE_MIRRORS=gcr.io=bob:t0ken@localhost:5000/x"} {
		_, err := load(t, "", nil, kv)
		if err == nil || strings.Contains(strings.Join(texts(t, err), ""), "t0ken") {
			t.Errorf("%s: %v", kv, err)
		}
	}
}

func TestImageNames(t *testing.T) {
	for name, hint := range map[string]string{
		"app": "", "my-app_2.x": "", "App": "name it app", "a/b": "image names are", "a..b": "image names are", "": "image names are", "-a": "image names are",
	} {
		err := CheckImageName(name)
		var e *Error
		if (hint == "") != (err == nil) || err != nil && (!errors.As(err, &e) || !strings.HasPrefix(e.Hint(), hint)) {
			t.Errorf("%q: %v, want hint %q", name, err, hint)
		}
	}
}
