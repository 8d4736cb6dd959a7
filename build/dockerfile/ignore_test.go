package dockerfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

func TestOneIgnoreFileCounts(t *testing.T) {
	for _, c := range []struct {
		name     string
		files    map[string]string
		path     string
		patterns []string
		lines    []int
	}{
		{"none", nil, "", nil, nil},
		{"at the root of the context", map[string]string{".dockerignore": "bin/\n"}, ".dockerignore", []string{"bin"}, []int{1}},
		{"beside the Dockerfile wins", map[string]string{".dockerignore": "a", "build/x/Dockerfile.dockerignore": "b"}, "build/x/Dockerfile.dockerignore", []string{"b"}, []int{1}},
		{"an empty one wins too", map[string]string{".dockerignore": "a", "build/x/Dockerfile.dockerignore": ""}, "build/x/Dockerfile.dockerignore", nil, nil},
		{"in the Dockerfile's directory is never read", map[string]string{"build/x/.dockerignore": "a"}, "", nil, nil},
		{
			"comments and blanks have no pattern",
			map[string]string{".dockerignore": "\ufeff# c\n\n  /a/../b \r\n #no\n! ./c\n*"},
			".dockerignore",
			[]string{"b", "#no", "!c", "*"},
			[]int{3, 4, 5, 6},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"build/x/Dockerfile": "FROM scratch\nCOPY x /x\n"}
			for k, v := range c.files {
				files[k] = v
			}
			in := Input{Context: tree(t, files), Dockerfile: "build/x/Dockerfile", Platform: arm64}
			r := evaluate(t, in)
			want := IgnoreFile{Path: c.path, Patterns: c.patterns, Lines: c.lines, Data: []byte(c.files[c.path])}
			if c.path == "" {
				want.Data = nil
			}
			if !reflect.DeepEqual(r.Ignore, want) {
				t.Errorf("ignore file %+v, want %+v", r.Ignore, want)
			}
			if got := r.Ops[0].Context.Exclude; !reflect.DeepEqual(got, c.patterns) {
				t.Errorf("context without %q, want %q", got, c.patterns)
			}
		})
	}
}

func TestIgnoredFilesAreWarnedAbout(t *testing.T) {
	in := Input{Context: tree(t, map[string]string{"Dockerfile": "FROM scratch\nCOPY bin/app /app\n", ".dockerignore": "bin/\n"}), Dockerfile: "Dockerfile", Platform: arm64}
	r := evaluate(t, in)
	if len(r.Warnings) != 1 || r.Warnings[0].Rule != "CopyIgnoredFile" || r.Warnings[0].Ranges[0].Start.Line != 2 {
		t.Errorf("warnings %+v", r.Warnings)
	}
}

func TestOmittedPathsLeaveTheContextAlone(t *testing.T) {
	in := Input{
		Context:    tree(t, map[string]string{"Dockerfile": "FROM scratch\nCOPY dist /d\n", ".dockerignore": "*\n!dist\n"}),
		Dockerfile: "Dockerfile", Platform: arm64,
		Omit: []string{"dist/", "../up", ".", "a/[x]*", "!n", "dist"},
	}
	r := evaluate(t, in)
	if want := []string{"*", "!dist", `\!n`, `a/\[x\]\*`, "dist"}; !reflect.DeepEqual(r.Ops[0].Context.Exclude, want) {
		t.Errorf("context without %q, want %q", r.Ops[0].Context.Exclude, want)
	}
	if want := []string{"*", "!dist"}; !reflect.DeepEqual(r.Ignore.Patterns, want) {
		t.Errorf("ignore file %q, want %q", r.Ignore.Patterns, want)
	}
}

func TestBadPatternIsAnErrorAtItsLine(t *testing.T) {
	in := Input{Context: tree(t, map[string]string{"Dockerfile": "FROM scratch\n", ".dockerignore": "# x\na\n[\n"}), Dockerfile: "Dockerfile", Platform: arm64}
	_, err := Evaluate(context.Background(), in)
	var e *Error
	if !errors.As(err, &e) || e.File != ".dockerignore" || e.Range.Start.Line != 3 {
		t.Errorf("error %v", err)
	}
}

func TestDockerfileOutsideItsContext(t *testing.T) {
	root := tree(t, map[string]string{
		"dockerfiles/web.Dockerfile": "FROM scratch\nCOPY . /\n",
		"web/index.html":             "x",
		"web/.dockerignore":          "secret\n",
		".dockerignore":              "index.html\n", // not of this context
	})
	in := Input{Root: root, Context: filepath.Join(root, "web"), Dockerfile: "dockerfiles/web.Dockerfile", Platform: arm64}
	r := evaluate(t, in)
	if r.Dockerfile != in.Dockerfile || r.Ignore.Path != "web/.dockerignore" || !slices.Equal(r.Ignore.Patterns, []string{"secret"}) {
		t.Errorf("got %s, %+v", r.Dockerfile, r.Ignore)
	}
	beside := filepath.Join(root, "dockerfiles", "web.Dockerfile.dockerignore")
	if err := os.WriteFile(beside, []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := evaluate(t, in); r.Ignore.Path != "dockerfiles/web.Dockerfile.dockerignore" || !slices.Equal(r.Ignore.Patterns, []string{"other"}) {
		t.Errorf("beside: %+v", r.Ignore)
	}
}
