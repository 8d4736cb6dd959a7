package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/run"
)

// appFor is an image of a platform with one program of it.
func appFor(t *testing.T, p, elfOf string) v1.Image {
	return imageOf(t, p, starts("/app"), layerOf(t, file{name: "app", data: program(t, elfOf)}))
}

func reference(t *testing.T, repo registry.Repository, ref string) Report {
	t.Helper()
	r, err := Reference(t.Context(), repo, ref, "it", Options{Jobs: 2, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Layouts and registries are read alike.
func repositories(t *testing.T, do func(t *testing.T, repo registry.Repository)) {
	t.Run("layout", func(t *testing.T) { do(t, registry.OpenLayout(t.TempDir(), "dist/app")) })
	t.Run("registry", func(t *testing.T) { do(t, newHost(t).open(t, "x/app")) })
}

func TestAWholeIndex(t *testing.T) {
	repositories(t, func(t *testing.T, repo registry.Repository) {
		amd := put(t, repo, "v1-amd64", "linux/amd64", appFor(t, "linux/amd64", "linux/amd64"))
		arm := put(t, repo, "v1-arm64", "linux/arm64/v8", appFor(t, "linux/arm64", "linux/arm64"))
		putIndex(t, repo, "v1", amd, arm)
		r := reference(t, repo, "v1")
		if got := says(r.Findings); got != "" || r.Wrong() != 0 {
			t.Error(got)
		}
		if len(r.Platforms) != 2 || r.Platforms[1].String() != "linux/arm64" || r.Programs != 2 || !strings.HasPrefix(r.Digest, "sha256:") || r.Ref != "it" {
			t.Errorf("%+v", r)
		}
		by := reference(t, repo, r.Digest)
		leg := reference(t, repo, "v1-arm64")
		if len(by.Platforms) != 2 || len(leg.Platforms) != 1 || says(leg.Findings) != "" {
			t.Errorf("%+v\n%+v", by, leg)
		}
	})
}

func TestWrongIndexes(t *testing.T) {
	const elf = "ELF is 64-bit little-endian x86_64, want 64-bit little-endian aarch64"
	revision := func(p, rev string) v1.Image {
		c := starts("/app")
		if rev != "" {
			c.Labels = map[string]string{labelRevision: rev}
		}
		return imageOf(t, p, c, layerOf(t, file{name: "app", data: program(t, p)}))
	}
	data := layerOf(t, file{name: "data", data: "x", mode: 0o644})
	script := layerOf(t, file{name: "run", data: "#!/bin/sh\n"})
	for _, c := range []struct {
		name    string
		entries func(put func(p string, img v1.Image) v1.Descriptor) []v1.Descriptor
		says    string
	}{
		{"planted binary", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			return []v1.Descriptor{put("linux/arm64", appFor(t, "linux/arm64", "linux/amd64"))}
		}, "linux/arm64: /app: " + elf},
		{"config disagrees", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			return []v1.Descriptor{put("linux/arm64", appFor(t, "linux/amd64", "linux/arm64"))}
		}, "linux/arm64: its config is for linux/amd64"},
		{"variant disagrees", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			return []v1.Descriptor{put("linux/arm/v6", appFor(t, "linux/arm/v7", "linux/arm/v7"))}
		}, "linux/arm/v6: its config is for linux/arm/v7"},
		{"no platform in the index", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			return []v1.Descriptor{put("", appFor(t, "linux/amd64", "linux/amd64"))}
		}, ""},
		{"twice", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			one := put("linux/arm64", appFor(t, "linux/arm64", "linux/arm64"))
			return []v1.Descriptor{one, put("linux/arm64/v8", revision("linux/arm64", ""))}
		}, "linux/arm64: the index lists it twice: sha256:"},
		{"size", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			d := put("linux/arm64", appFor(t, "linux/arm64", "linux/arm64"))
			d.Size++
			return []v1.Descriptor{d}
		}, "linux/arm64: the index says that "},
		{"media type", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			d := put("linux/arm64", appFor(t, "linux/arm64", "linux/arm64"))
			d.MediaType = types.DockerManifestSchema2
			return []v1.Descriptor{d}
		}, "is application/vnd.docker.distribution.manifest.v2+json, it is application/vnd.oci.image.manifest.v1+json"},
		{"families", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			img := mutate.MediaType(mutate.ConfigMediaType(appFor(t, "linux/arm64", "linux/arm64"), types.DockerConfigJSON), types.DockerManifestSchema2)
			return []v1.Descriptor{put("linux/arm64", img)}
		}, "linux/arm64: it holds application/vnd.docker.distribution.manifest.v2+json, but the index is application/vnd.oci.image.index.v1+json"},
		{"revisions", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			return []v1.Descriptor{put("linux/amd64", revision("linux/amd64", "abc")), put("linux/arm64", revision("linux/arm64", "def"))}
		}, "linux/arm64: its revision is def, that of linux/amd64 is abc"},
		{"no revision beside one", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			return []v1.Descriptor{put("linux/amd64", revision("linux/amd64", "abc")), put("linux/arm64", revision("linux/arm64", ""))}
		}, "linux/arm64: its revision is none, that of linux/amd64 is abc"},
		{"shared data", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			return []v1.Descriptor{put("linux/amd64", imageOf(t, "linux/amd64", v1.Config{}, data)), put("linux/arm64", imageOf(t, "linux/arm64", v1.Config{}, data))}
		}, ""},
		{"shared scripts", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			return []v1.Descriptor{put("linux/amd64", imageOf(t, "linux/amd64", v1.Config{}, script)), put("linux/arm64", imageOf(t, "linux/arm64", v1.Config{}, script))}
		}, ""},
		{"shared programs", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			base := layerOf(t, file{name: "bin/sh", data: program(t, "linux/amd64")})
			return []v1.Descriptor{put("linux/amd64", imageOf(t, "linux/amd64", v1.Config{}, base)), put("linux/arm64", imageOf(t, "linux/arm64", v1.Config{}, base))}
		}, "linux/arm64: /bin/sh: " + elf + "\nlinux/arm64: it has the same layers as linux/amd64, and programs in them"},
		{"attestation of what is not there", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			return []v1.Descriptor{put("linux/amd64", appFor(t, "linux/amd64", "linux/amd64")), attestation(put, "sha256:"+strings.Repeat("0", 64))}
		}, "which the index does not list"},
		{"attestation", func(put func(string, v1.Image) v1.Descriptor) []v1.Descriptor {
			d := put("linux/amd64", appFor(t, "linux/amd64", "linux/amd64"))
			return []v1.Descriptor{d, attestation(put, d.Digest.String())}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			repositories(t, func(t *testing.T, repo registry.Repository) {
				n := 0
				entries := c.entries(func(p string, img v1.Image) v1.Descriptor {
					n++
					return put(t, repo, "leg"+string(rune('0'+n)), p, img)
				})
				if lying := c.name == "size"; lying && repo.Name() == "dist/app" {
					return // a layout does not take such an index
				}
				putIndex(t, repo, "v1", entries...)
				got := says(reference(t, repo, "v1").Findings)
				if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
					t.Errorf("says\n%s\nwant\n%s", got, c.says)
				}
			})
		})
	}
}

func attestation(put func(string, v1.Image) v1.Descriptor, about string) v1.Descriptor {
	d := put("", mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1))
	d.Platform = &v1.Platform{OS: "unknown", Architecture: "unknown"}
	d.Annotations = map[string]string{referenceType: "attestation-manifest", referenceDigest: about}
	return d
}

func TestWhatIsGone(t *testing.T) {
	setUp := func(t *testing.T) (*host, registry.Repository, *v1.Manifest, v1.Descriptor) {
		h := newHost(t)
		repo := h.open(t, "x/app")
		img := appFor(t, "linux/arm64", "linux/arm64")
		d := put(t, repo, "leg", "linux/arm64", img)
		putIndex(t, repo, "v1", put(t, repo, "amd", "linux/amd64", appFor(t, "linux/amd64", "linux/amd64")), d)
		return h, h.open(t, "x/app"), must[*v1.Manifest](t)(img.Manifest()), d
	}
	for name, of := range map[string]func(*v1.Manifest, v1.Descriptor) (digest, says string){
		"child":  func(_ *v1.Manifest, d v1.Descriptor) (string, string) { return d.Digest.String(), "the index lists " },
		"config": func(m *v1.Manifest, _ v1.Descriptor) (string, string) { return m.Config.Digest.String(), "its config " },
		"layer": func(m *v1.Manifest, _ v1.Descriptor) (string, string) {
			return m.Layers[0].Digest.String(), "layer 1 ("
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, repo, m, d := setUp(t)
			digest, want := of(m, d)
			h.gone[digest] = true
			got := says(reference(t, repo, "v1").Findings)
			if !strings.HasPrefix(got, "linux/arm64: "+want) || !strings.Contains(got, "gone") || strings.Contains(got, "\n") {
				t.Error(got)
			}
		})
		t.Run(name+" that cannot be read", func(t *testing.T) {
			h, repo, m, d := setUp(t)
			digest, _ := of(m, d)
			h.gone[digest], h.status = true, http.StatusInternalServerError
			r, err := Reference(t.Context(), repo, "v1", "it", Options{})
			if err == nil || errors.Is(err, registry.ErrAbsent) || says(r.Findings) != "" {
				t.Error(err, says(r.Findings))
			}
		})
	}
	t.Run("all of it", func(t *testing.T) {
		_, repo, _, _ := setUp(t)
		if _, err := Reference(t.Context(), repo, "v2", "it", Options{}); !errors.Is(err, registry.ErrAbsent) {
			t.Error(err)
		}
	})
}

func TestALayoutThatIsDamaged(t *testing.T) {
	for name, damage := range map[string]func(file string) error{
		"gone":  os.Remove,
		"other": func(file string) error { return os.WriteFile(file, []byte("{}"), 0o644) },
	} {
		for _, what := range []string{"manifest", "config", "layer"} {
			t.Run(what+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				repo := registry.OpenLayout(dir, "dist/app")
				img := appFor(t, "linux/amd64", "linux/amd64")
				d := put(t, repo, "leg", "linux/amd64", img)
				putIndex(t, repo, "v1", d)
				m := must[*v1.Manifest](t)(img.Manifest())
				hex := map[string]string{"manifest": d.Digest.Hex, "config": m.Config.Digest.Hex, "layer": m.Layers[0].Digest.Hex}[what]
				if err := damage(filepath.Join(dir, "blobs", "sha256", hex)); err != nil {
					t.Fatal(err)
				}
				for _, ref := range []string{"v1", "leg"} {
					if r := reference(t, repo, ref); r.Wrong() != 1 {
						t.Errorf("%s: %q", ref, says(r.Findings))
					}
				}
			})
		}
	}
}

// GOARM=7 in an image for arm/v6 is in the build info alone: the header of all
// variants is one.
func TestAVariantThatOnlyTheBuildInfoTells(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.21\n", "main.go": "package main\n\nfunc main() { println(1) }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := run.Output(t.Context(), run.OS{}, run.Cmd{
		Name: "go", Args: []string{"build", "-trimpath", "-ldflags=-s -w", "-o", "app", "."}, Dir: dir,
		Env: append(parse(t, "linux/arm/v7").GoEnv(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local"),
	})
	if err != nil {
		t.Fatal(err)
	}
	app := layerOf(t, file{name: "app", data: string(must[[]byte](t)(os.ReadFile(filepath.Join(dir, "app"))))})
	repo := registry.OpenLayout(t.TempDir(), "dist/app")
	putIndex(t, repo, "v1",
		put(t, repo, "v6", "linux/arm/v6", imageOf(t, "linux/arm/v6", starts("/app"), app)),
		put(t, repo, "v7", "linux/arm/v7", imageOf(t, "linux/arm/v7", starts("/app"), app, layerOf(t, file{name: "x/"}))))
	r := reference(t, repo, "v1")
	if got := says(r.Findings); got != "linux/arm/v6: /app: built with GOARM=7, want at most 6" || len(r.Findings) != 1 {
		t.Errorf("%q, %q", got, unsure(r.Findings))
	}
}

func TestOptionsRevision(t *testing.T) {
	repo := registry.OpenLayout(t.TempDir(), "dist/app")
	put(t, repo, "leg", "", appFor(t, "linux/amd64", "linux/amd64"))
	r, err := Reference(t.Context(), repo, "leg", "it", Options{Revision: "abc"})
	if err != nil || says(r.Findings) != "linux/amd64: its revision is none, not abc" {
		t.Error(err, says(r.Findings))
	}
}

func TestReportsAsTextAndJSON(t *testing.T) {
	amd := parse(t, "linux/amd64")
	reports := []Report{{
		Ref: "r/app:v1", Digest: "sha256:00", Platforms: nil, Programs: 2,
		Findings: []Finding{
			{Platform: amd, Message: "bad\x1b[2J\nname", Fix: "do this"},
			{Message: "about the index", Fix: "do that"},
			{Platform: amd, Message: "perhaps", NotChecked: true},
		},
	}}
	var text, data bytes.Buffer
	if err := errors.Join(WriteText(&text, reports), WriteJSON(&data, reports)); err != nil {
		t.Fatal(err)
	}
	const want = "r/app:v1 linux/amd64: bad?[2J?name\n    fix | do this\nr/app:v1 about the index\n    fix | do that\nr/app:v1 linux/amd64: not checked: perhaps\n"
	if text.String() != want {
		t.Errorf("%q", text.String())
	}
	var got map[string]any
	if err := json.Unmarshal(data.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["version"] != 1.0 || len(got["refs"].([]any)) != 1 || len(got["findings"].([]any)) != 2 || len(got["notChecked"].([]any)) != 1 {
		t.Error(data.String())
	}
	if !strings.Contains(data.String(), `"platforms": []`) {
		t.Error(data.String())
	}
}
