package dockerfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
)

func TestErrorsSayWhereAndWhat(t *testing.T) {
	for _, c := range []struct{ name, text, want, hint string }{
		{"empty", "", "dockerfile Dockerfile:1: file with no instructions", ""},
		{"comments alone", "# x\n\n", "dockerfile Dockerfile:2: file with no instructions", ""},
		{"unknown instruction", "FROM scratch\nFORM x", "dockerfile Dockerfile:2: unknown instruction: FORM (did you mean FROM?)", ""},
		{"before FROM", "COPY a /a\nFROM scratch", "dockerfile Dockerfile:1: no build stage in current context", ""},
		{"no FROM", "ARG X=1", "dockerfile Dockerfile: no FROM", ""},
		{"too few arguments", "FROM scratch\n\n  COPY \\\n a", "dockerfile Dockerfile:3: COPY requires at least two arguments, but only one was provided. Destination could not be determined", ""},
		{"unknown flag", "FROM scratch\nCOPY --nope a /a", "dockerfile Dockerfile:2: unknown flag: --nope", ""},
		{"variable in --from", "FROM scratch\nARG X=a\nCOPY a /a\nCOPY --from=$X /a /b", "dockerfile Dockerfile:4: variable expansion is not supported for --from, define a new stage with FROM using ARG from global scope as a workaround", ""},
		{"index of no stage", "FROM scratch\nCOPY --from=3 /a /b", "dockerfile Dockerfile:2: invalid stage index 3", ""},
		{"stage defined later", "FROM scratch\nCOPY --from=later /a /b\nFROM alpine AS later\nFROM scratch\nCOPY --from=0 / /", "dockerfile Dockerfile:2: cannot copy from stage \"later\", it needs to be defined before current stage \"stage-0\"", ""},
		{"stages in a circle", "FROM scratch AS a\nCOPY --from=b /x /x\nFROM scratch AS b\nCOPY --from=a /x /x", "dockerfile Dockerfile:2: circular dependency detected on stage: a", ""},
		{"blank base", "FROM ${X}", "dockerfile Dockerfile:1: base name (${X}) should not be blank", "give it a default before the first FROM, ARG X=…, or a value, IMAGE_BUILD_ARGS=X=…"},
		{"platform with a hole", "ARG ARCH\nFROM --platform=linux/$ARCH alpine AS a\nFROM a", "dockerfile Dockerfile:2: ARCH has no value in --platform=linux/$ARCH", "write --platform=$TARGETPLATFORM, or give it a default before the first FROM, ARG ARCH=…, or a value, IMAGE_BUILD_ARGS=ARCH=…"},
		{"platform with another hole", "ARG OS=linux\nFROM --platform=${OS:-linux}/${ARCH:+x} alpine", "dockerfile Dockerfile:2: ARCH has no value in --platform=${OS:-linux}/${ARCH:+x}", ""},
		{"wrong platform", "ARG ARCH=a/b/c/d\nFROM --platform=linux/$ARCH alpine", `dockerfile Dockerfile:2: "c/d" is an invalid component of "linux/a/b/c/d": platform specifier component must match "^[A-Za-z0-9_.-]+$": invalid argument`, ""},
		{"bad base", "FROM Foo", `dockerfile Dockerfile:1: cannot parse stage name "Foo": invalid reference format: repository name (library/Foo) must be lowercase`, ""},
		{"bad mode", "FROM scratch\nCOPY --chmod=0o711 a /a", "dockerfile Dockerfile:2: invalid chmod parameter: '0o711'. it should be octal string and between 0 and 07777", ""},
		{"name with --link", "FROM alpine\nCOPY --link --chown=bob a /a", "dockerfile Dockerfile:2: --chown=bob: user and group names can't be resolved when used with --link, use numeric uid[:gid] instead", ""},
		{"open heredoc", "FROM scratch\nCOPY <<EOF /a\nhello", "dockerfile Dockerfile:2: unterminated heredoc", ""},
		{"required variable", "FROM scratch\nWORKDIR ${X:?set it}", `dockerfile Dockerfile:2: cannot process "${X:?set it}": X: set it`, ""},
		{"bad escape directive", "# escape=x\nFROM scratch", "dockerfile Dockerfile:1: invalid escape token 'x' does not match ` or \\", ""},
		{"directive twice", "# syntax=docker/dockerfile:1\n# escape=`\n# escape=`\nFROM scratch", "dockerfile Dockerfile:3: only one escape parser directive can be used", ""},
		{"bad check options", "# check=bogus\nFROM scratch", `dockerfile Dockerfile: cannot parse check options: invalid check option "bogus"`, ""},
		{"epoch from a stage", "ARG SOURCE_DATE_EPOCH=src\nFROM scratch AS src\nADD git@127.0.0.1:x.git /\nFROM scratch", "dockerfile Dockerfile: SOURCE_DATE_EPOCH=src is no number of seconds", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Evaluate(context.Background(), input(t, c.text))
			if err == nil || err.Error() != c.want {
				t.Fatalf("got  %v\nwant %s", err, c.want)
			}
			var e *Error
			if !errors.As(err, &e) || e.Hint() != c.hint && c.hint != "" {
				t.Errorf("error %#v", err)
			}
		})
	}
}

func TestInputIsChecked(t *testing.T) {
	base := input(t, "FROM scratch AS one\nFROM scratch AS two\n")
	for _, c := range []struct {
		name, want, hint string
		change           func(*Input)
	}{
		{"unknown target", `dockerfile Dockerfile: no stage "on"`, "stages: one, two", func(in *Input) { in.Target = "on" }},
		{"missing", "dockerfile x/Dockerfile: no such file", "looked in " + base.Context, func(in *Input) { in.Dockerfile = "x/Dockerfile" }},
		{"outside", "dockerfile ../Dockerfile: lies outside the repository", "", func(in *Input) { in.Dockerfile = "a/../../Dockerfile" }},
		{"absolute", "dockerfile /etc/passwd: lies outside the repository", "", func(in *Input) { in.Dockerfile = "/etc/passwd" }},
		{"no platform", "dockerfile Dockerfile: no platform to evaluate for", "", func(in *Input) { in.Platform = platform.Platform{} }},
		{"automatic argument", "dockerfile Dockerfile: build argument TARGETARCH is set by the platform", "", func(in *Input) { in.Args = map[string]string{"TARGETARCH": "amd64"} }},
	} {
		in := base
		c.change(&in)
		_, err := Evaluate(context.Background(), in)
		var e *Error
		if !errors.As(err, &e) || err.Error() != c.want || c.hint != "" && e.Hint() != c.hint {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	for _, name := range []string{"TARGETPLATFORM", "TARGETOS", "TARGETVARIANT", "TARGETSTAGE", "BUILDPLATFORM", "BUILDARCH", "BUILDOS", "BUILDVARIANT"} {
		in := base
		in.Args = map[string]string{name: "x"}
		if _, err := Evaluate(context.Background(), in); err == nil {
			t.Errorf("build argument %s is taken", name)
		}
	}
}

func TestMissingFilesAreErrNotExist(t *testing.T) {
	in := input(t, "FROM scratch\n")
	in.Dockerfile = "nope"
	if _, err := Evaluate(context.Background(), in); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no Dockerfile: %v", err)
	}
	in.Context = filepath.Join(in.Context, "nope")
	if _, err := Evaluate(context.Background(), in); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no context: %v", err)
	}
}

func TestDockerfileIsNotReadFromOutside(t *testing.T) {
	outside := tree(t, map[string]string{"f": "FROM scratch\n"})
	in := input(t, "FROM scratch\n")
	if err := os.Symlink(filepath.Join(outside, "f"), filepath.Join(in.Context, "link")); err != nil {
		t.Fatal(err)
	}
	in.Dockerfile = "link"
	if _, err := Evaluate(context.Background(), in); err == nil {
		t.Error("a link out of the context was followed")
	}
	in.Dockerfile = "dir"
	if err := os.Mkdir(filepath.Join(in.Context, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Evaluate(context.Background(), in); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory as Dockerfile: %v", err)
	}
}

func TestLowerCaseDockerfileServes(t *testing.T) {
	in := Input{Context: tree(t, map[string]string{"dockerfile": "FROM scratch\nCOPY a /a\n"}), Dockerfile: "Dockerfile", Platform: arm64}
	if r := evaluate(t, in); len(r.Ops) != 2 {
		t.Errorf("operations %v", r.Ops)
	}
}

func TestPlaceOnABlankLineIsItsWholeWidth(t *testing.T) {
	_, err := Evaluate(context.Background(), input(t, "\n \t"))
	var e *Error
	if !errors.As(err, &e) || e.Range != (Range{Position{2, 1}, Position{2, 3}}) {
		t.Errorf("error %v at %v", err, e.Range)
	}
}
