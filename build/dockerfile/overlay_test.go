package dockerfile

import (
	"reflect"
	"testing"
)

func TestOverlayCountsInsteadOfTheFiles(t *testing.T) {
	root := tree(t, map[string]string{
		"x/Dockerfile": "FROM scratch\nCOPY a /a\n", "ctx/.dockerignore": "b\n", "ctx/a": "", "ctx/b": "",
	})
	in := input(t, "")
	in.Root, in.Context, in.Dockerfile = root, root+"/ctx", "x/Dockerfile"
	in.Overlay = map[string][]byte{"x/Dockerfile": []byte("FROM scratch\nCOPY b /b\n"), "ctx/.dockerignore": []byte("# none\na\n"), "ctx/x/Dockerfile": []byte("?")}
	r := evaluate(t, in)
	if got := r.Context.Paths; !reflect.DeepEqual(got, []string{"b"}) || string(r.File.Data) != "FROM scratch\nCOPY b /b\n" {
		t.Errorf("copies %v of\n%s", got, r.File.Data)
	}
	if want := (IgnoreFile{Path: "ctx/.dockerignore", Patterns: []string{"a"}, Lines: []int{2}, Data: []byte("# none\na\n")}); !reflect.DeepEqual(r.Ignore, want) {
		t.Errorf("ignores %+v", r.Ignore)
	}
	in.Overlay = map[string][]byte{"x/Dockerfile.dockerignore": []byte("c\n")}
	if r = evaluate(t, in); r.Ignore.Path != "x/Dockerfile.dockerignore" {
		t.Errorf("ignores %+v", r.Ignore)
	}
}
