package audit

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// file is an entry of a layer; data of a directory or link is not written.
type file struct {
	name string // a trailing slash is a directory
	data string
	mode int64 // 0 is 0755
	link string
	uid  int
	gid  int
}

func archive(t testing.TB, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		h := tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: f.mode, Size: int64(len(f.data)), Uid: f.uid, Gid: f.gid}
		if h.Mode == 0 {
			h.Mode = 0o755
		}
		switch {
		case strings.HasSuffix(f.name, "/"):
			h.Typeflag, h.Size = tar.TypeDir, 0
		case f.link != "":
			h.Typeflag, h.Size, h.Linkname = tar.TypeSymlink, 0, f.link
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			io.WriteString(w, f.data)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func layerOf(t testing.TB, files ...file) v1.Layer { return rawLayer(t, archive(t, files...)) }

func rawLayer(t testing.TB, data []byte) v1.Layer {
	t.Helper()
	return must[v1.Layer](t)(tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}, tarball.WithMediaType(types.OCILayer)))
}

// imageOf is an image for a platform. Each layer is a list of files.
func imageOf(t testing.TB, p string, c v1.Config, layers ...v1.Layer) v1.Image {
	t.Helper()
	os, arch, _ := strings.Cut(p, "/")
	arch, variant, _ := strings.Cut(arch, "/")
	img := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	img = must[v1.Image](t)(mutate.ConfigFile(img, &v1.ConfigFile{
		OS: os, Architecture: arch, Variant: variant, Config: c, RootFS: v1.RootFS{Type: "layers"},
	}))
	return must[v1.Image](t)(mutate.AppendLayers(img, layers...))
}

// program is an ELF file for a platform that needs nothing.
func program(t testing.TB, p string) string {
	return string(header(must[platform.Platform](t)(platform.Parse(p)).ELF(), elf.ET_EXEC, 0, ""))
}

// dynamic is a 64-bit little-endian program with an interpreter ("" is none)
// and libraries; without an entry it is a library itself.
func dynamic(e platform.ELF, entry uint64, interp, runPath string, needed ...string) string {
	var strtab, dyn, out bytes.Buffer
	strtab.WriteByte(0)
	put := func(tag elf.DynTag, text string) {
		binary.Write(&dyn, binary.LittleEndian, elf.Dyn64{Tag: int64(tag), Val: uint64(strtab.Len())})
		strtab.WriteString(text + "\x00")
	}
	for _, n := range needed {
		put(elf.DT_NEEDED, n)
	}
	if runPath != "" {
		put(elf.DT_RUNPATH, runPath)
	}
	binary.Write(&dyn, binary.LittleEndian, elf.Dyn64{})
	segments := uint16(0)
	if interp != "" {
		segments = 1
	}
	const head = 64 + 56
	offInterp := uint64(head)
	offStr := offInterp + uint64(len(interp)+1)
	offDyn := offStr + uint64(strtab.Len())
	offNames := offDyn + uint64(dyn.Len())
	names := "\x00.dynstr\x00.dynamic\x00.shstrtab\x00"
	write := func(v any) { binary.Write(&out, binary.LittleEndian, v) }
	write(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(e.Class), byte(e.Data), 1}, Type: uint16(elf.ET_DYN), Machine: uint16(e.Machine), Version: 1,
		Entry: entry, Phoff: 64, Shoff: offNames + uint64(len(names)), Ehsize: 64, Phentsize: 56, Phnum: segments, Shentsize: 64, Shnum: 4, Shstrndx: 3,
	})
	write(elf.Prog64{Type: uint32(elf.PT_INTERP), Off: offInterp, Filesz: uint64(len(interp) + 1)})
	out.WriteString(interp + "\x00")
	out.Write(strtab.Bytes())
	out.Write(dyn.Bytes())
	out.WriteString(names)
	write(elf.Section64{})
	write(elf.Section64{Name: 1, Type: uint32(elf.SHT_STRTAB), Off: offStr, Size: uint64(strtab.Len())})
	write(elf.Section64{Name: 9, Type: uint32(elf.SHT_DYNAMIC), Off: offDyn, Size: uint64(dyn.Len()), Link: 1, Entsize: 16})
	write(elf.Section64{Name: 18, Type: uint32(elf.SHT_STRTAB), Off: offNames, Size: uint64(len(names))})
	return out.String()
}

// amd64 is its header.
var amd64 = platform.ELF{Class: elf.ELFCLASS64, Data: elf.ELFDATA2LSB, Machine: elf.EM_X86_64}

// says are the findings that are decided, as text.
func says(list []Finding) string {
	var all []string
	for _, f := range list {
		if !f.NotChecked {
			all = append(all, f.Error())
		}
	}
	return strings.Join(all, "\n")
}

// unsure are the others.
func unsure(list []Finding) string {
	var all []string
	for _, f := range list {
		if f.NotChecked {
			all = append(all, f.Error())
		}
	}
	return strings.Join(all, "\n")
}

// host is a registry in process. What it holds can be taken away.
type host struct {
	*httptest.Server
	gone   map[string]bool // digests
	status int             // what is answered for them instead of 404
}

func newHost(t *testing.T) *host {
	h := &host{gone: map[string]bool{}, status: http.StatusNotFound}
	inner := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, digest, _ := strings.Cut(r.URL.Path, "sha256:")
		if h.gone["sha256:"+digest] {
			w.WriteHeader(h.status)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *host) open(t *testing.T, name string) registry.Repository {
	client := registry.New(registry.Options{Auth: registry.Auth{DockerConfig: t.TempDir()}})
	return must[registry.Repository](t)(client.Open(strings.TrimPrefix(h.URL, "http://")+"/"+name, registry.Write))
}

// put writes an image, and returns its descriptor with a platform ("" has none).
func put(t *testing.T, repo registry.Repository, tag, p string, img v1.Image) v1.Descriptor {
	t.Helper()
	d := must[v1.Descriptor](t)(repo.PutImage(t.Context(), tag, img))
	if p != "" {
		d.Platform = must[*v1.Platform](t)(v1.ParsePlatform(p))
	}
	return d
}

// putIndex writes an index of these entries.
func putIndex(t *testing.T, repo registry.Repository, tag string, entries ...v1.Descriptor) {
	t.Helper()
	raw := must[[]byte](t)(json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: entries}))
	m := must[registry.Manifest](t)(registry.NewManifest(raw, types.OCIImageIndex))
	if err := repo.PutManifest(t.Context(), tag, m); err != nil {
		t.Fatal(err)
	}
}

// counted is a layer that knows how often it was read.
type counted struct {
	v1.Layer
	reads int
}

func (c *counted) Uncompressed() (io.ReadCloser, error) {
	c.reads++
	return c.Layer.Uncompressed()
}
