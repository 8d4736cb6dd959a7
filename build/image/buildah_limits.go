package image

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/run"
)

// Versions of buildah that first understand what BuildKit's front end does.
const (
	buildahHeredocs = "v1.35.0"
	buildahSymbolic = "v1.39.0" // COPY --chmod=u+x
)

// LimitError says that this buildah does not understand a Dockerfile. It is
// found before the build, which would fail in the middle or, with a heredoc,
// copy a file named <<EOF.
type LimitError struct{ Where, What, Have, Need string }

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: buildah %s does not understand %s, which needs %s", e.Where, e.Have, e.What, e.Need)
}

// Hint is the line to show below the error.
func (e *LimitError) Hint() string { return "upgrade buildah, or use docker buildx" }

// version is what the installed buildah says, e.g. v1.28.2; "" where it says
// nothing that can be compared.
func (b Buildah) version(ctx context.Context) string {
	out, err := run.Output(ctx, b.Runner, run.Cmd{Name: "buildah", Args: []string{"--version"}, Without: Secret, Reads: true})
	words := strings.Fields(string(out)) // buildah version 1.28.2 (image-spec …)
	if err != nil || len(words) < 3 || !semver.IsValid("v"+words[2]) {
		return ""
	}
	return "v" + words[2]
}

// limits refuses what a version of buildah cannot build.
func limits(r *dockerfile.Recipe, version string) error {
	if version == "" {
		return nil
	}
	for _, op := range r.Ops {
		if op.File == nil {
			continue
		}
		for _, a := range op.File.Actions {
			switch {
			case a.Write != nil && semver.Compare(version, buildahHeredocs) < 0:
				return &LimitError{where(r, op), "heredocs", version, buildahHeredocs}
			case a.Copy != nil && symbolic(a.Copy.Mode) && semver.Compare(version, buildahSymbolic) < 0:
				return &LimitError{where(r, op), "--chmod=" + a.Copy.Mode, version, buildahSymbolic}
			}
		}
	}
	return nil
}

func symbolic(mode string) bool { return strings.Trim(mode, "01234567") != "" }
