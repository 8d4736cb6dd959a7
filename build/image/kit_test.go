package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
	"github.com/archmage-go/archmage/build/rootfs"
)

var amd64 = platform.Platform{OS: "linux", Arch: "amd64"}

// someTime is the creation time of every image here.
var someTime = time.Unix(1_700_000_000, 0)

// plant writes files into a new directory. A name that ends in a slash is a
// directory; files in bin are executable.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o755
		}
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		must(t, os.WriteFile(p, []byte(data), mode))
		must(t, os.Chmod(p, mode)) // whatever the umask
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// value is what must be there: value[T](t)(f()).
func value[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}

// newBlobs are blobs in a directory of their own, which ends with the test.
func newBlobs(t testing.TB, indexes string) *Blobs {
	t.Helper()
	b := value[*Blobs](t)(NewBlobs(t.TempDir(), rootfs.Indexes{Dir: indexes}))
	t.Cleanup(func() { must(t, b.Close()) })
	return b
}

// leftovers lists what lies in the directory of blobs, without layers that are
// done.
func leftovers(t testing.TB, b *Blobs) []string {
	t.Helper()
	var names []string
	for _, e := range value[[]os.DirEntry](t)(os.ReadDir(b.dir)) {
		if len(e.Name()) != 64 {
			names = append(names, e.Name())
		}
	}
	return names
}

// native is an engine with a registry to read bases from.
type native struct {
	Native
	registry *server
	client   *registry.Client
}

func newNative(t testing.TB) *native {
	t.Helper()
	client := registry.New(registry.Options{
		Auth:      registry.Auth{DockerConfig: t.TempDir()}, // anonymous, whoever runs the test
		Transport: &http.Transport{DisableKeepAlives: true},
	})
	return &native{Native{Bases: NewBases(client), Blobs: newBlobs(t, "")}, serve(t), client}
}

// push puts a base image, made of these layers, and gives its reference.
func (n *native) push(t testing.TB, repo string, layers ...v1.Layer) string {
	t.Helper()
	r := value[registry.Repository](t)(n.client.Open(n.registry.host+"/"+repo, registry.Write))
	_, err := r.PutImage(t.Context(), "1", baseImage(t, layers...))
	must(t, err)
	return n.registry.host + "/" + repo + ":1"
}

// recipe evaluates a Dockerfile whose context is dir.
func (n *native) recipe(t testing.TB, dir, text string) *dockerfile.Recipe {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(text), 0o644))
	return value[*dockerfile.Recipe](t)(dockerfile.Evaluate(t.Context(), dockerfile.Input{
		Context: dir, Dockerfile: "Dockerfile", Platform: amd64, BuildPlatform: amd64, Bases: n.Bases,
	}))
}

func (n *native) request(t testing.TB, dir, text string) Request {
	t.Helper()
	return Request{Recipe: n.recipe(t, dir, text), Root: dir, Context: dir, Created: someTime}
}

// build is the image of a Dockerfile.
func (n *native) build(t testing.TB, dir, text string) v1.Image {
	t.Helper()
	return value[v1.Image](t)(n.Build(t.Context(), n.request(t, dir, text)))
}

// fails gives the error of a Dockerfile that cannot be built, and holds that
// nothing half done stays behind.
func (n *native) fails(t testing.TB, dir, text string) error {
	t.Helper()
	img, err := n.Build(t.Context(), n.request(t, dir, text))
	if err == nil || img != nil {
		t.Fatalf("built %v, error %v", img, err)
	}
	if left := leftovers(t, n.Blobs); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	return err
}

// listing shows a layer as it was written, one entry a line: name, type, mode,
// owner, seconds, size or link.
func listing(t testing.TB, l v1.Layer) []string {
	t.Helper()
	stream := value[io.ReadCloser](t)(l.Uncompressed())
	defer func() { must(t, stream.Close()) }()
	var lines []string
	for r := tar.NewReader(stream); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, stream)
			must(t, err)
			return lines
		}
		must(t, err)
		line := fmt.Sprintf("%s %o %d:%d @%d", h.Name, h.Mode, h.Uid, h.Gid, h.ModTime.Unix())
		switch h.Typeflag {
		case tar.TypeReg:
			line += " =" + string(value[[]byte](t)(io.ReadAll(r)))
		case tar.TypeLink, tar.TypeSymlink:
			line += " ->" + h.Linkname
		}
		lines = append(lines, line)
	}
}

func layersOf(t testing.TB, img v1.Image) []v1.Layer {
	t.Helper()
	return value[[]v1.Layer](t)(img.Layers())
}

// top is the listing of the last layer.
func top(t testing.TB, img v1.Image) []string {
	t.Helper()
	layers := layersOf(t, img)
	return listing(t, layers[len(layers)-1])
}

func same(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func digestOf(t testing.TB, x interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	return value[v1.Hash](t)(x.Digest()).String()
}

// says checks the text of an error.
func says(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v; want %s", err, want)
	}
}

// entriesOf are the entries of a snapshot's layer.
func entriesOf(t testing.TB, s snapshot, layer int) []rootfs.Entry {
	t.Helper()
	return value[[]rootfs.Entry](t)(s.layers[layer].entries(t.Context()))
}
