package report

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/verify"
)

// check judges a Dockerfile, as image app with one command of that name, on
// amd64 and a second platform.
func check(t testing.TB, text, second string) ([]verify.Finding, []verify.Subject) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	platforms, _, err := platform.ParseList("linux/amd64 " + second)
	if err != nil {
		t.Fatal(err)
	}
	s := verify.Subject{Image: "app", Root: os.DirFS(dir), Bin: "bin/{name}-{os}-{arch}{variant}", Commands: []string{"app"}}
	for _, p := range platforms {
		r, err := dockerfile.Evaluate(context.Background(), dockerfile.Input{
			Root: dir, Context: dir, Dockerfile: "Dockerfile", MultiPlatform: true,
			Platform: p, BuildPlatform: platform.Platform{OS: "linux", Arch: "amd64"},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Recipes = append(s.Recipes, r)
	}
	return verify.Check([]verify.Subject{s}, verify.Options{}), []verify.Subject{s}
}
