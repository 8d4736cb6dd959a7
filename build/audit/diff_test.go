package audit

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/registry"
)

// compared puts two images into a layout and returns how they differ, without
// the platform.
func compared(t *testing.T, a, b v1.Image) (list []string, c Comparison) {
	t.Helper()
	repo := registry.OpenLayout(filepath.Join(t.TempDir(), "app"), "app")
	for tag, img := range map[string]v1.Image{"a": a, "b": b} {
		if _, err := repo.PutImage(t.Context(), tag, img); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Diff(t.Context(), Side{repo, "a", "app:a"}, Side{repo, "b", "app:b"}, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.Differences {
		list = append(list, strings.TrimPrefix(d.String(), "linux/amd64: "))
	}
	return list, c
}

const sumX, sumY = "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", "sha256:a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa"

func TestDiffNamesTheFileAndWhatOfIt(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b []file
		want string
	}{
		"content":     {[]file{{name: "f", data: "x"}}, []file{{name: "f", data: "y"}}, "layer 1: /f: content: " + sumX + " | " + sumY},
		"size":        {[]file{{name: "f", data: "x"}}, []file{{name: "f", data: ""}}, "layer 1: /f: size: 1 | 0\nlayer 1: /f: content: " + sumX + " | sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		"mode":        {[]file{{name: "f", mode: 0o644}}, []file{{name: "f", mode: 0o4755}}, "layer 1: /f: mode: 0644 | 04755"},
		"owner":       {[]file{{name: "f"}}, []file{{name: "f", uid: 1, gid: 2}}, "layer 1: /f: owner: 0:0 | 1:2"},
		"link":        {[]file{{name: "f", link: "x"}}, []file{{name: "f", link: "y"}}, "layer 1: /f: link target: x | y"},
		"type":        {[]file{{name: "d/"}}, []file{{name: "d", link: "y"}}, "layer 1: /d: type: directory | link\nlayer 1: /d: link target: - | y"},
		"only in A":   {[]file{{name: "e"}, {name: "f"}}, []file{{name: "f"}}, "layer 1: /e: only in A: file"},
		"only in B":   {[]file{{name: "f"}}, []file{{name: "e/"}, {name: "f"}}, "layer 1: /e: only in B: directory"},
		"order":       {[]file{{name: "e"}, {name: "f"}}, []file{{name: "f"}, {name: "e"}}, "layer 1: order: entry 1 is /e | entry 1 is /f"},
		"entries":     {[]file{{name: "e"}, {name: "e"}}, []file{{name: "e"}}, "layer 1: entries: 2 | 1"},
		"name's form": {[]file{{name: "./e"}}, []file{{name: "e"}}, "layer 1: tar: the same files, written differently"},
		"hostile":     {[]file{{name: "a\x1b[2J\nb"}}, []file{{name: "a\x1b[2J\nb", uid: 1}}, "layer 1: /a\x1b[2J\nb: owner: 0:0 | 1:0"},
	} {
		t.Run(name, func(t *testing.T) {
			got, c := compared(t, imageOf(t, "linux/amd64", v1.Config{}, layerOf(t, tt.a...)), imageOf(t, "linux/amd64", v1.Config{}, layerOf(t, tt.b...)))
			if strings.Join(got, "\n") != tt.want || c.Equal() {
				t.Errorf("%q\nwant\n%q", got, tt.want)
			}
			var out bytes.Buffer
			if err := c.WriteText(&out); err != nil || strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "\n") != 2+len(got) {
				t.Errorf("%q, %v", out.String(), err)
			}
		})
	}
}

// tarOf is a layer of one file, whose header is changed.
func tarOf(t *testing.T, data string, change func(*tar.Header)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	h := &tar.Header{Name: "f", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(data))}
	change(h)
	if err := w.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDiffOfHeaders(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*tar.Header)
		want   string
	}{
		"mtime":     {func(h *tar.Header) { h.ModTime = time.Unix(1, 0) }, "layer 1: /f: mtime: 1970-01-01T00:00:00Z | 1970-01-01T00:00:01Z"},
		"attribute": {func(h *tar.Header) { h.PAXRecords = map[string]string{"SCHILY.xattr.security.capability": "\x01"} }, "layer 1: /f: attribute security.capability: - | 01"},
		"names":     {func(h *tar.Header) { h.Uname = "root" }, "layer 1: /f: owner: 0:0 | 0:0 root:"},
		"format":    {func(h *tar.Header) { h.Format = tar.FormatGNU }, "layer 1: /f: tar format: USTAR | GNU"},
	} {
		t.Run(name, func(t *testing.T) {
			a := tarOf(t, "x", func(h *tar.Header) { h.ModTime = time.Unix(0, 0) })
			b := tarOf(t, "x", func(h *tar.Header) { h.ModTime = time.Unix(0, 0); tt.change(h) })
			got, _ := compared(t, imageOf(t, "linux/amd64", v1.Config{}, rawLayer(t, a)), imageOf(t, "linux/amd64", v1.Config{}, rawLayer(t, b)))
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestDiffTellsCompression(t *testing.T) {
	data := archive(t, file{name: "f", data: strings.Repeat("x", 4096)})
	packed := func(level int) v1.Layer {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, level)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(data)
		w.Close()
		return must[v1.Layer](t)(tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil },
			tarball.WithMediaType(types.OCILayer)))
	}
	got, _ := compared(t, imageOf(t, "linux/amd64", v1.Config{}, packed(gzip.BestSpeed)), imageOf(t, "linux/amd64", v1.Config{}, packed(gzip.BestCompression)))
	if len(got) != 1 || !strings.HasPrefix(got[0], "layer 1: compression: gzip, ") || !strings.Contains(got[0], "level byte 4") || !strings.Contains(got[0], "level byte 2") {
		t.Errorf("%q", got)
	}
}

func TestDiffOfConfigHistoryAndManifest(t *testing.T) {
	img := func(user, by string, annotations map[string]string) v1.Image {
		c := v1.Config{User: user, Labels: map[string]string{"org.example": user}, Env: []string{"A=1"}}
		if user == "b" {
			c.Env = append(c.Env, "B=2")
		}
		i := imageOf(t, "linux/amd64", c)
		i = must[v1.Image](t)(mutate.Append(i, mutate.Addendum{Layer: layerOf(t, file{name: "f"}), History: v1.History{CreatedBy: by}}))
		return mutate.Annotations(i, annotations).(v1.Image)
	}
	got, c := compared(t, img("a", "COPY", map[string]string{"k": "1"}), img("b", "ADD", map[string]string{"k": "2", "only.b": "x"}))
	want := []string{
		`manifest: annotations.k: value: "1" | "2"`,
		`manifest: annotations["only.b"]: only in B: "x"`,
		`config: config.Env[1]: only in B: "B=2"`,
		`config: config.Labels["org.example"]: value: "a" | "b"`,
		`config: config.User: value: "a" | "b"`,
		`history: [0].created_by: value: "COPY" | "ADD"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	if !slices.Equal(c.Platforms, []string{"linux/amd64"}) {
		t.Error(c.Platforms)
	}
}

func TestDiffPutsALayerInTheMiddle(t *testing.T) {
	l := func(name string) v1.Layer { return layerOf(t, file{name: name}) }
	got, _ := compared(t, imageOf(t, "linux/amd64", v1.Config{}, l("1"), l("2"), l("3")), imageOf(t, "linux/amd64", v1.Config{}, l("1"), l("3")))
	if len(got) != 2 || !strings.HasPrefix(got[0], "history: [2]: only in A: ") || !strings.HasPrefix(got[1], "layer 2: only in A: sha256:") {
		t.Errorf("%q", got)
	}
}

func TestDiffOfIndexes(t *testing.T) {
	dir := t.TempDir()
	repo := registry.OpenLayout(filepath.Join(dir, "app"), "app")
	put := func(tag string, annotations map[string]string, add ...mutate.IndexAddendum) {
		index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), add...)
		index = mutate.Annotations(index, annotations).(v1.ImageIndex)
		for _, a := range add {
			if _, err := repo.PutImage(t.Context(), tag+"-"+a.Platform.Architecture, a.Add.(v1.Image)); err != nil {
				t.Fatal(err)
			}
		}
		m, err := registry.NewManifest(must[[]byte](t)(index.RawManifest()), types.OCIImageIndex)
		if err != nil {
			t.Fatal(err)
		}
		if err := repo.PutManifest(t.Context(), tag, m); err != nil {
			t.Fatal(err)
		}
	}
	child := func(arch, data string, annotations map[string]string) mutate.IndexAddendum {
		return mutate.IndexAddendum{
			Add:        imageOf(t, "linux/"+arch, v1.Config{}, layerOf(t, file{name: "f", data: data})),
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}, Annotations: annotations},
		}
	}
	put("a", map[string]string{"k": "a"}, child("amd64", "x", nil), child("arm64", "x", nil), child("s390x", "x", nil))
	put("b", map[string]string{"k": "b"}, child("amd64", "x", map[string]string{"e": "1"}), child("arm64", "y", nil), child("riscv64", "x", nil))
	put("c", map[string]string{"k": "a"}, child("arm64", "x", nil), child("amd64", "x", nil), child("s390x", "x", nil))
	for _, tt := range []struct{ a, b, want string }{
		{"a", "a", ""},
		{"a", "b", `index: annotations.k: value: "a" | "b"
index: manifests[0].annotations: only in B: {"e":"1"}
linux/arm64: layer 1: /f: content: ` + sumX + " | " + sumY + `
linux/s390x: index: only in A: DIGEST
linux/riscv64: index: only in B: DIGEST`},
		{"a", "c", "index: order: linux/amd64 linux/arm64 linux/s390x | linux/arm64 linux/amd64 linux/s390x"},
		{"a-arm64", "b", "index: kind: one image | an index\nlinux/arm64: layer 1: /f: content: " + sumX + " | " + sumY +
			"\nlinux/amd64: index: only in B: DIGEST\nlinux/riscv64: index: only in B: DIGEST"},
	} {
		c, err := Diff(t.Context(), Side{repo, tt.a, tt.a}, Side{repo, tt.b, tt.b}, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range c.Differences {
			text := d.String()
			if i := strings.Index(text, "only in A: sha256:"); i >= 0 {
				text = text[:i] + "only in A: DIGEST"
			}
			if i := strings.Index(text, "only in B: sha256:"); i >= 0 {
				text = text[:i] + "only in B: DIGEST"
			}
			got = append(got, text)
		}
		if strings.Join(got, "\n") != tt.want || c.Equal() != (tt.want == "") {
			t.Errorf("%s and %s:\n%s\nwant\n%s", tt.a, tt.b, strings.Join(got, "\n"), tt.want)
		}
	}
	if _, err := Diff(t.Context(), Side{repo, "a", "a"}, Side{repo, "none", "none"}, Options{}); err == nil {
		t.Error("what is absent differs in nothing")
	}
}

func TestDiffOfProgramsSaysHowTheyWereBuilt(t *testing.T) {
	self := must[string](t)(os.Executable())
	data := must[[]byte](t)(os.ReadFile(self))
	other := bytes.ReplaceAll(data, []byte("build\t-compiler=gc"), []byte("build\t-compiler=xy"))
	a, b := file{name: "app", data: string(data)}, file{name: "app", data: string(other)}
	plain := func(f file) v1.Layer { return static.NewLayer(archive(t, f), types.OCIUncompressedLayer) } // gzip is slow under the race detector
	got, _ := compared(t, imageOf(t, "linux/amd64", v1.Config{}, plain(a)), imageOf(t, "linux/amd64", v1.Config{}, plain(b)))
	if len(got) != 2 || !strings.HasPrefix(got[0], "layer 1: /app: content: ") || got[1] != "layer 1: /app: go build -compiler: gc | xy" {
		t.Errorf("%q", got)
	}
}

func TestDiffIsBounded(t *testing.T) {
	var a, b []file
	for i := range mostDifferences + 5 {
		a = append(a, file{name: strconv.Itoa(i)})
		b = append(b, file{name: strconv.Itoa(i), uid: 1})
	}
	got, c := compared(t, imageOf(t, "linux/amd64", v1.Config{}, layerOf(t, a...)), imageOf(t, "linux/amd64", v1.Config{}, layerOf(t, b...)))
	if len(got) != mostDifferences || c.Omitted != 5 {
		t.Errorf("%d and %d more", len(got), c.Omitted)
	}
	var out bytes.Buffer
	if err := c.WriteText(&out); err != nil || !strings.HasSuffix(out.String(), "\nand 5 more\n") {
		t.Error(err)
	}
	_, c = compared(t, imageOf(t, "linux/amd64", v1.Config{User: strings.Repeat("x", 10_000)}), imageOf(t, "linux/amd64", v1.Config{}))
	if len(c.Differences) != 1 || len(c.Differences[0].A) > longest+10 {
		t.Errorf("%d bytes", len(c.Differences[0].A))
	}
}

// A sparse file of eight exabytes takes one block of a tar.
func TestDiffDoesNotUnfoldSparseFiles(t *testing.T) {
	sparse := func(mode int64) []byte {
		raw := tarOf(t, strings.Repeat("\x00", 512), func(h *tar.Header) { h.Mode, h.Format = mode, tar.FormatGNU })
		raw[156] = tar.TypeGNUSparse
		copy(raw[386:], "00000000000\x0000000000000\x00")                   // one fragment: offset 0, no bytes
		copy(raw[483:], "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff") // the size it is unfolded to
		copy(raw[124:], "00000000000\x00")                                  // nothing is stored
		copy(raw[148:], "        ")
		total := 0
		for _, c := range raw[:512] {
			total += int(c)
		}
		copy(raw[148:], []byte(strconv.FormatInt(int64(total)|1<<18, 8))[1:]) // six digits
		raw[154], raw[155] = 0, ' '
		return append(raw[:512:512], raw[1024:]...)
	}
	got, c := compared(t, imageOf(t, "linux/amd64", v1.Config{}, rawLayer(t, sparse(0o644))), imageOf(t, "linux/amd64", v1.Config{}, rawLayer(t, sparse(0o600))))
	if want := []string{"layer 1: /f: mode: 0644 | 0600"}; !slices.Equal(got, want) || len(c.NotChecked) != 1 {
		t.Errorf("%q, %q", got, c.NotChecked)
	}
}
