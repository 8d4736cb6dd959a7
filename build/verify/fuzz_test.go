package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// FuzzCheck judges whatever the front end accepts: no panic, and every finding
// lies inside the file.
func FuzzCheck(f *testing.F) {
	cases, _ := filepath.Glob("testdata/*/*.txtar")
	for _, name := range cases {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var seed [2]string
		for _, file := range txtar.Parse(data).Files {
			switch file.Name {
			case "Dockerfile":
				seed[0] = string(file.Data)
			case ".dockerignore":
				seed[1] = string(file.Data)
			}
		}
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, ignore string) {
		if len(text) > 4096 || len(ignore) > 512 || strings.HasPrefix(text, "-> ") || strings.HasPrefix(ignore, "-> ") {
			return
		}
		r := newRepo(t, []byte("platforms: linux/amd64 linux/arm/v7\ncommands: app tool\nelf: bin/probe amd64\n"+
			"base: docker.io/library/alpine:3.22 image linux/amd64\nbase: docker.io/library/golang:1.26 index linux/s390x"),
			[]txtar.File{file("Dockerfile", text), file(".dockerignore", ignore)})
		s, err := r.subject(t, "app")
		if err != nil {
			return
		}
		for _, finding := range Check([]Subject{s}, Options{Pedantic: true}) {
			inside(t, text, finding)
		}
	})
}

func inside(t *testing.T, text string, f Finding) {
	t.Helper()
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for _, p := range []dockerfile.Position{f.Start, f.End} {
		if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > utf8.RuneCountInString(lines[p.Line-1])+1 {
			t.Errorf("%+v lies outside a file of %d lines", f, len(lines))
		}
	}
	if f.End.Line < f.Start.Line || f.End.Line == f.Start.Line && f.End.Column < f.Start.Column {
		t.Errorf("%+v ends before it starts", f)
	}
	if len(f.Platforms) == 0 || f.Message == "" || strings.Contains(f.Message, "\n") {
		t.Errorf("%+v", f)
	}
}
