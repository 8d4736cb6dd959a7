package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestImagesOfTheFile(t *testing.T) {
	s := must(t, `# comment
platforms:
  - linux/amd64
  - linux/arm64
labels: {team: infra, "a b": "c, d"}
images:
  web:
    dockerfile: ./deploy/web/Dockerfile
    context: deploy/
    target: final
    build-args:
      VERSION: 1.10
      DEBUG: true
      EMPTY:
    labels: {x: "y z"}
    platforms: linux/arm
    tags: [edge, nightly]
    timeout: 1h30m
    secrets:
      - id=npm,src=.npmrc
    ssh: [default]
  app:
`, nil)
	if platforms(s.Platforms) != "linux/amd64 linux/arm64" || pairsOf(s.Labels.Values) != "a b=c, d|team=infra" || !s.Labels.Auto {
		t.Errorf("%v %+v", s.Platforms, s.Labels)
	}
	if len(s.Images) != 2 || s.Images[0].Name != "app" || s.Images[0].Line != 22 || s.Images[0].Dockerfile != "" {
		t.Fatalf("%+v", s.Images)
	}
	web := s.Images[1]
	if web.Name != "web" || web.Line != 7 || web.Dockerfile != "deploy/web/Dockerfile" || web.Context != "deploy" || web.Target != "final" ||
		pairsOf(web.BuildArgs) != "DEBUG=true|EMPTY=|VERSION=1.10" || pairsOf(web.Labels) != "x=y z" || platforms(web.Platforms) != "linux/arm/v7" ||
		strings.Join(web.Tags, " ") != "edge nightly" || web.Timeout != 90*time.Minute || !slices.Equal(web.Secrets, []string{"id=npm,src=.npmrc"}) || !slices.Equal(web.SSH, []string{"default"}) {
		t.Errorf("%+v", web)
	}
}

func TestFilesThatSayNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# only a comment\n", "---\n", "images:\n", "images: {}\n", "version:\n", "\ufeff", "\ufeffversion:\n", "---\n---\n"} {
		s, err := load(t, text, nil)
		if err != nil || len(s.From) != 0 || len(s.Images) != 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSeveritiesOfTheFile(t *testing.T) {
	s := must(t, `verify:
  severity:
    ArchBlindCopy: warning
    "UndefinedVar": off
    RootUser: error
`, nil)
	want := []Severity{
		{"ArchBlindCopy", "warning", "archmage.yaml:3:5"},
		{"UndefinedVar", "off", "archmage.yaml:4:5"},
		{"RootUser", "error", "archmage.yaml:5:5"},
	}
	if !slices.Equal(s.Severities, want) || !s.Verify {
		t.Errorf("%+v", s.Severities)
	}
	if s := must(t, "verify: {severity: {A: off}}\n", nil); len(s.Severities) != 1 {
		t.Errorf("%+v", s.Severities)
	}
	if s := must(t, "verify: false\n", nil); s.Verify || s.Severities != nil {
		t.Errorf("%+v", s.Severities)
	}
	if s := must(t, "verify: {severity: }\n", nil); s.Severities != nil {
		t.Errorf("%+v", s.Severities)
	}
}

func TestTheFileIsStrict(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"unknown key", "a: b\nplatform: x\n", `archmage.yaml:1:1: unknown key "a" | `},
		{"nearest key", "plaforms: x\n", "did you mean platforms"},
		{"unknown key of an image", "images:\n  a:\n    dokerfile: x\n", `archmage.yaml:3:5: unknown key "dokerfile" | did you mean dockerfile?`},
		{"name of the variable", "IMAGE_TAGS: x\n", `archmage.yaml:1:1: unknown key "IMAGE_TAGS"`},
		{"twice", "push: no\nout: a\npush: no\n", `archmage.yaml:3:1: `},
		{"image twice", "images:\n  a: {}\n  b: {}\n  a: {}\n", `archmage.yaml:4:3: `},
		{"bad value", "version: v1\njobs:    many\n", `archmage.yaml:2:10: "many" is not a whole number`},
		{"bad value in a list", "platforms:\n  - linux/amd64\n  - linux/amd46\n", `archmage.yaml:2:3: platform "linux/amd46"`},
		{"mapping for a scalar", "version: {a: b}\n", `archmage.yaml:1:10: "a=b" is no legal tag`},
		{"list in a list", "what: [a, [b]]\n", "archmage.yaml:1:11: want one value | quote it"},
		{"anchors", "version: &v v1\nout: *v\n", "archmage.yaml:1:10: want one value | quote it"},
		{"no mapping", "- a\n", "archmage.yaml:1:1: want keys and values"},
		{"a word", "push\n", "archmage.yaml:1:1: want keys and values"},
		{"documents", "out: a\n---\nout: b\n", "more than one document | keep one document"},
		{"syntax", "out: [a\nversion: b\n", "archmage.yaml:"},
		{"tabs", "images:\n\ta: {}\n", "archmage.yaml:2:1: "},
		{"image name", "images:\n  Web: {}\n", "archmage.yaml:2:3: image Web: not a legal image name | name it web"},
		{"image is a list", "images: [a]\n", "archmage.yaml:1:9: want keys and values"},
		{"image is a word", "images:\n  a: b\n", "archmage.yaml:2:6: want keys and values"},
		{"dockerfile outside", "images:\n  a:\n    dockerfile: ../x\n", `archmage.yaml:3:17: "../x" lies outside`},
		{"context outside", "images:\n  a:\n    context: /x\n", `archmage.yaml:3:14: "/x" lies outside`},
		{"build arg", "images:\n  a:\n    build-args:\n      TARGETOS: linux\n", "archmage.yaml:4:7: TARGETOS is set by the platform"},
		{"build args in a list", "images:\n  a:\n    build-args: [A=b]\n", "archmage.yaml:3:17: want keys and values"},
		{"image platforms", "images:\n  a:\n    platforms: darwin/arm64\n", `archmage.yaml:3:16: platform "darwin/arm64": images for darwin`},
		{"image tags", "images:\n  a:\n    tags: a/b\n", `archmage.yaml:3:11: "a/b" is no legal tag | write a-b`},
		{"timeout", "images:\n  a:\n    timeout: 5\n", `archmage.yaml:3:14: "5" is no duration | e.g. 20m`},
		{"timeout of nothing", "images:\n  a:\n    timeout: 0s\n", "is no duration"},
		{"secrets", "images:\n  a:\n    secrets: id=x\n", "archmage.yaml:3:14: want a list"},
		{"key of verify", "verify:\n  severities: {}\n", `archmage.yaml:2:3: unknown key "severities" | did you mean severity?`},
		{"severity", "verify:\n  severity:\n    A: eror\n", `archmage.yaml:3:8: "eror" is no severity | off, warning or error`},
		{"no severity", "verify:\n  severity:\n    A:\n", `"" is no severity`},
		{"severity in a list", "verify:\n  severity: [A]\n", "archmage.yaml:2:13: want keys and values"},
		{"severity of a list", "verify:\n  severity:\n    A: [off]\n", "archmage.yaml:3:8: want one value"},
		{"severity twice", "verify:\n  severity:\n    A: off\n    A: off\n", "archmage.yaml:4:5: "},
	} {
		_, err := load(t, c.text, nil)
		got := strings.Join(texts(t, err), "\n")
		if !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", c.name, got, c.says)
		}
		if strings.Contains(strings.SplitN(got, " | ", 2)[0], "\n") {
			t.Errorf("%s: not one line: %q", c.name, got)
		}
	}
}

func TestAFileThatCannotBeRead(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, FileName), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), Source{Root: root, Env: []string{}, Runner: noGit{}})
	var e *Error
	if !errors.As(err, &e) || e.Where != FileName || strings.Contains(e.Cause, root) {
		t.Errorf("%v", err)
	}
}

// The file comes from whoever sent a pull request.
func FuzzFile(f *testing.F) {
	f.Add("version: v1\nimages:\n  a: {dockerfile: x, build-args: {A: 1}}\n")
	f.Add("platforms: [linux/arm64]\n---\n")
	f.Add("a: &a [*a]\n")
	f.Add("x: !!binary |\n  aGVsbG8=\n")
	f.Fuzz(func(t *testing.T, text string) {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, FileName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s := defaults(root)
		if err := s.applyFile(filepath.Join(root, FileName)); err != nil {
			for _, line := range texts(t, err) {
				if !strings.HasPrefix(line, FileName) {
					t.Errorf("%q does not say where", line)
				}
			}
			return
		}
		for _, img := range s.Images {
			if CheckImageName(img.Name) != nil || img.Timeout < 0 || strings.HasPrefix(img.Context, "..") || filepath.IsAbs(img.Dockerfile) {
				t.Errorf("%+v", img)
			}
		}
	})
}
