package verify

import (
	"slices"
	"testing"
)

// The ignore file in the root is for the image whose context that is, whatever
// else lies beside it.
func TestIgnoreFileOfAnotherImagesContextIsRead(t *testing.T) {
	findings, web := check(t, "context: web", file("Dockerfile", "FROM scratch\nCOPY x /x\n"), file("web/x", "x"), file(".dockerignore", "*.log\n"))
	if !slices.Equal(rules(findings), []string{"ParentIgnoreFile"}) {
		t.Fatalf("alone: %v", rules(findings))
	}
	root := web
	root.Image, root.Context = "root", ""
	for _, f := range Check([]Subject{web, root}, Options{}) {
		if f.Rule == "ParentIgnoreFile" {
			t.Errorf("got %+v", f)
		}
	}
}
