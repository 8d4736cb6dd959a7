package image

import (
	"testing"

	"github.com/archmage-go/archmage/build/dockerfile"
)

func TestOldBuildahIsRefusedBeforeTheBuild(t *testing.T) {
	recipe := func(a dockerfile.Action) *dockerfile.Recipe {
		return &dockerfile.Recipe{Dockerfile: "cmd/x/Dockerfile", Ops: []dockerfile.Op{
			{Kind: dockerfile.KindFile, Ranges: []dockerfile.Range{{Start: dockerfile.Position{Line: 3}}}, File: &dockerfile.FileOp{Actions: []dockerfile.Action{a}}},
		}}
	}
	heredoc := recipe(dockerfile.Action{Write: &dockerfile.Write{}})
	words := recipe(dockerfile.Action{Copy: &dockerfile.Copy{Mode: "u+x"}})
	octal := recipe(dockerfile.Action{Copy: &dockerfile.Copy{Mode: "0755"}})
	for _, tt := range []struct {
		name    string
		recipe  *dockerfile.Recipe
		version string
		want    string
	}{
		{"heredoc, old", heredoc, "v1.28.2", "cmd/x/Dockerfile:3: buildah v1.28.2 does not understand heredocs, which needs v1.35.0"},
		{"heredoc, new", heredoc, "v1.35.0", ""},
		{"symbolic, old", words, "v1.38.1", "cmd/x/Dockerfile:3: buildah v1.38.1 does not understand --chmod=u+x, which needs v1.39.0"},
		{"symbolic, new", words, "v1.40.0", ""},
		{"octal", octal, "v1.28.2", ""},
		{"version unknown", heredoc, "", ""},
	} {
		err := limits(tt.recipe, tt.version)
		if got := text(err); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
