package sbom

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/cache"
	"github.com/archmage-go/archmage/build/platform"
)

// official compiles the schema that the SPDX project publishes for 2.3. The
// module that tools/spdx.mod pins has a copy of it.
func official(t *testing.T) *jsonschema.Schema {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-modfile=../../tools/spdx.mod", "-json", "github.com/anchore/syft")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(module.Dir, "schema/spdx-json/spdx-schema-2.3.json"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, data []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(doc)
}

func TestDocumentsAreValid(t *testing.T) {
	schema := official(t)
	for name, img := range map[string]Image{
		"all": example(), "nothing": {Name: "x", Digest: one}, "dpkg": imageOn(t, debian()), "apk": imageOn(t, alpine()), "distroless": imageOn(t, distroless()),
	} {
		data := written(t, img)
		if err := validate(t, schema, data); err != nil {
			t.Errorf("%s: %v\n%s", name, err, data)
		}
		if err := validate(t, schema, bytes.ReplaceAll(data, []byte(`"relationshipType":"D`), []byte(`"relationshipType":"X`))); err == nil {
			t.Errorf("%s: the schema finds nothing", name)
		}
	}
}

func debian() map[string]string {
	large := strings.Repeat("\nPackage: x\nVersion: 1\nDescription: "+strings.Repeat("x", 1000)+"\n", 100)
	return map[string]string{"etc/os-release": "ID=debian\nVERSION_ID=12\n", "var/lib/dpkg/status": dpkg + large}
}

func alpine() map[string]string {
	return map[string]string{"usr/lib/os-release": "ID=alpine\nVERSION_ID=3.22.1\n", "lib/apk/db/installed": apk}
}

func distroless() map[string]string {
	return map[string]string{
		"usr/lib/os-release":                     "ID=debian\nVERSION_ID=12\n",
		"var/lib/dpkg/status.d/tzdata":           "Package: tzdata\nVersion: 2025b-0+deb12u1\nArchitecture: all\n",
		"var/lib/dpkg/status.d/tzdata.md5sums":   "Package: none\n",
		"var/lib/dpkg/status.d/libc6.preferably": "Package: libc6\nVersion: 2.36\nArchitecture: amd64\n",
	}
}

// TestPackagesOfTheBaseAreListed reads images as they are: the files of a base
// below, a Go program on top. What is remembered of the base says the same.
func TestPackagesOfTheBaseAreListed(t *testing.T) {
	tests := map[string]struct {
		base map[string]string
		want []string
	}{
		"dpkg":       {debian(), []string{"pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=arm64&distro=debian-12", "pkg:deb/debian/x@1?distro=debian-12"}},
		"apk":        {alpine(), []string{"pkg:apk/alpine/musl@1.2.5-r9?arch=x86_64&distro=alpine-3.22.1", "built from busybox"}},
		"distroless": {distroless(), []string{"pkg:deb/debian/tzdata@2025b-0%2Bdeb12u1?arch=all&distro=debian-12", "pkg:deb/debian/libc6@2.36?"}},
	}
	for name, tt := range tests {
		text := string(written(t, imageOn(t, tt.base)))
		for _, want := range append(tt.want, "pkg:golang/stdlib@"+strings.TrimPrefix(runtime.Version(), "go"), "STATIC_LINK") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s in\n%s", name, want, text)
			}
		}
		if strings.Contains(text, `"none"`) || strings.Contains(text, `"gone"`) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// imageOn is the image of this test's own program on a base, read twice.
func imageOn(t *testing.T, base map[string]string) Image {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	p := platform.Host()
	built := onLayers(t, p, base, map[string]string{"app": string(program)})
	below := onLayers(t, p, base)
	config, err := below.RawConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	img := Image{Name: "app", Digest: one, Platform: p}
	store := cache.Store{Dir: filepath.Join(t.TempDir(), "facts")}
	var first []byte
	for range 2 {
		img.Contents, _, err = audit.ImageContents(t.Context(), audit.Subject{Image: built, Platform: p, Base: &audit.Base{Config: config}}, audit.Options{Facts: store})
		if err != nil {
			t.Fatal(err)
		}
		if data := written(t, img); first != nil && !bytes.Equal(first, data) {
			t.Errorf("remembered, it is another one:\n%s", data)
		} else {
			first = data
		}
	}
	return img
}

func onLayers(t *testing.T, p platform.Platform, layers ...map[string]string) v1.Image {
	t.Helper()
	img, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: p.OS, Architecture: p.Arch, Variant: p.Variant, RootFS: v1.RootFS{Type: "layers"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range layers {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(files[name]))}); err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(w, files[name])
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil })
		if err != nil {
			t.Fatal(err)
		}
		if img, err = mutate.AppendLayers(img, layer); err != nil {
			t.Fatal(err)
		}
	}
	return img
}
