package adopt

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestMakefilesAreReadWithoutMake(t *testing.T) {
	fsys := fstest.MapFS{
		"Makefile": {Data: []byte(`# image: not this
IMAGE_DIRS ?= cmd/a \
	cmd/b # two of them
export VERSION := $(shell git describe)
REGISTRY = ghcr.io/x
.PHONY: image test
all: image
image: export CGO_ENABLED = 0
build test &: go.mod
	image2: not a rule
define HELP
inside: x
endef
$(OUT)/%.o: %.c
$(foreach d,a:b,$d) deploy:: ; kubectl
ifdef X
push: image; docker push
endif
include mk/*.mk mk/more.mk Makefile
-include gone.mk $(DIR)/x.mk
`)},
		"mk/more.mk": {Data: []byte("include ../Makefile mk/more.mk\nmanifest:\r\n\techo\r\n")},
	}
	m := ReadMakefile(fsys)
	want := []string{"all", "build", "test", "deploy", "push", "manifest"}
	if !slices.Equal(m.Targets, want) {
		t.Errorf("targets %q, want %q", m.Targets, want)
	}
	if got := m.Words("IMAGE_DIRS"); !slices.Equal(got, []string{"cmd/a", "cmd/b"}) {
		t.Errorf("IMAGE_DIRS %q", got)
	}
	if m.Words("VERSION") != nil || m.Variables["REGISTRY"] != "ghcr.io/x" || m.Adopted || !m.Exists || m.Has("image") {
		t.Errorf("%+v", m)
	}
}

func TestTheMakefileThatMakeTakes(t *testing.T) {
	one := &fstest.MapFile{Data: []byte("x:\n")}
	for _, tt := range []struct {
		fsys   fstest.MapFS
		name   string
		exists bool
	}{
		{fstest.MapFS{}, "Makefile", false},
		{fstest.MapFS{"Makefile": one}, "Makefile", true},
		{fstest.MapFS{"Makefile": one, "makefile": one}, "makefile", true},
		{fstest.MapFS{"Makefile/x": one}, "Makefile", true},
		{fstest.MapFS{"Makefile": one, "GNUmakefile": one}, "GNUmakefile", true},
	} {
		m := ReadMakefile(tt.fsys)
		if m.Name != tt.name || m.Exists != tt.exists {
			t.Errorf("%q %v, want %q %v", m.Name, m.Exists, tt.name, tt.exists)
		}
	}
}

func TestAnIncludedLibraryIsKnown(t *testing.T) {
	for text, want := range map[string]bool{
		"include scripts/archmage.mk\n":                      true,
		"include $(shell go list x)/scripts/archmage.mk\n":   true,
		"-include archmage.mk other.mk\n":                    true,
		"# include archmage.mk\nx:\n\tinclude archmage.mk\n": false,
		"x:\n" + Begin + "\nimage:\n" + End + "\n":           true,
		"include archmage.mk.orig\n":                         false,
	} {
		if m := ReadMakefile(fstest.MapFS{"Makefile": {Data: []byte(text)}}); m.Adopted != want {
			t.Errorf("%q: %v", text, m.Adopted)
		}
	}
}
