package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/cache"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/rootfs"
)

func contentsOf(t *testing.T, img v1.Image, o Options) Contents {
	t.Helper()
	p := must[platform.Platform](t)(platform.Parse("linux/amd64"))
	c, _, err := ImageContents(t.Context(), Subject{Image: img, Platform: p}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pathsOf(files []File) string {
	var all []string
	for _, f := range files {
		all = append(all, f.Path)
	}
	return strings.Join(all, " ")
}

func TestContentsAreWhatTheImageShows(t *testing.T) {
	elf := program(t, "linux/amd64")
	img := imageOf(t, "linux/amd64", v1.Config{},
		layerOf(t, file{name: "gone", data: elf}, file{name: "old", data: elf}, file{name: "etc/os-release", data: "ID=x"},
			file{name: "var/lib/dpkg/status", data: "Package: a\n"}, file{name: "data", data: elf, mode: 0o644},
			file{name: "lib/libx.so.1", data: elf, mode: 0o644}, file{name: "script", data: "#!/bin/sh"},
			file{name: "home/dpkg/status", data: "Package: b\n"}),
		layerOf(t, file{name: ".wh.gone"}, file{name: "old", data: elf + "x"}, file{name: "z/app", data: elf}))
	c := contentsOf(t, img, Options{})
	if got, want := pathsOf(c.Programs), "/lib/libx.so.1 /old /z/app"; got != want {
		t.Errorf("programs %s, want %s", got, want)
	}
	if got, want := pathsOf(c.Texts), "/etc/os-release /var/lib/dpkg/status"; got != want {
		t.Errorf("texts %s, want %s", got, want)
	}
	if c.Programs[1].SHA256 == c.Programs[2].SHA256 || c.Programs[0].SHA256 != c.Programs[2].SHA256 || c.Programs[0].Format != ELF || c.Partial {
		t.Errorf("%+v", c)
	}
}

func TestAGoProgramIsListedWithoutItsSettings(t *testing.T) {
	self := must[string](t)(os.Executable())
	data := string(must[[]byte](t)(os.ReadFile(self)))
	c := contentsOf(t, imageOf(t, "linux/amd64", v1.Config{}, layerOf(t, file{name: "app", data: data})), Options{})
	if len(c.Programs) != 1 || c.Programs[0].Go == nil || c.Programs[0].Go.GoVersion == "" || c.Programs[0].Go.Settings != nil {
		t.Errorf("%+v", c.Programs)
	}
}

func TestListsAreReadHoweverLong(t *testing.T) {
	long := "Package: a\n" + strings.Repeat("x", smallFile)
	img := imageOf(t, "linux/amd64", v1.Config{}, layerOf(t,
		file{name: "var/lib/dpkg/status", data: long}, file{name: "lib/apk/db/installed", data: strings.Repeat("y", smallFile+1)}))
	c := contentsOf(t, img, Options{})
	if len(c.Texts) != 2 || c.Texts[0].Problem != errNotKept.Error() || string(c.Texts[1].Text) != long || c.Texts[1].Problem != "" {
		t.Errorf("%s: %q", pathsOf(c.Texts), c.Texts[0].Problem)
	}
}

func TestADamagedLayerLeavesTheRestListed(t *testing.T) {
	elf := program(t, "linux/amd64")
	img := imageOf(t, "linux/amd64", v1.Config{}, layerOf(t, file{name: "app", data: elf}), rawLayer(t, []byte("no tar, but long enough "+strings.Repeat("x", 600))))
	c := contentsOf(t, img, Options{})
	if pathsOf(c.Programs) != "/app" || !c.Partial {
		t.Errorf("%s, partial %v", pathsOf(c.Programs), c.Partial)
	}
}

// TestFactsOfABaseAreReadOnce: what is remembered of its layers holds for every
// image that has them, whatever that hides.
func TestFactsOfABaseAreReadOnce(t *testing.T) {
	elf := program(t, "linux/amd64")
	lower := &counted{Layer: layerOf(t, file{name: "a", data: elf}, file{name: "b", data: elf + "b"}, file{name: "var/lib/dpkg/status", data: "Package: a\n"})}
	base := imageOf(t, "linux/amd64", v1.Config{}, lower)
	config := must[[]byte](t)(base.RawConfigFile())
	dir := t.TempDir()
	o := Options{Facts: cache.Store{Dir: filepath.Join(dir, "facts")}, Indexes: rootfs.Indexes{Dir: filepath.Join(dir, "layers")}}
	p := must[platform.Platform](t)(platform.Parse("linux/amd64"))
	list := func(top ...file) Contents {
		t.Helper()
		img := imageOf(t, "linux/amd64", v1.Config{}, lower, layerOf(t, top...))
		c, _, err := ImageContents(t.Context(), Subject{Image: img, Platform: p, Base: &Base{Config: config}}, o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := list(file{name: ".wh.a"})
	before := lower.reads
	second := list(file{name: ".wh.b"})
	if lower.reads != before {
		t.Errorf("the base was read %d times more", lower.reads-before)
	}
	if pathsOf(first.Programs) != "/b" || pathsOf(second.Programs) != "/a" || len(second.Texts) != 1 || !bytes.Equal(second.Texts[0].Text, []byte("Package: a\n")) {
		t.Errorf("%+v, %+v", first, second)
	}
}
