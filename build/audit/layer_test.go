package audit

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/rootfs"
)

func audit(t *testing.T, img v1.Image, o Options) []Finding {
	t.Helper()
	found, err := Image(t.Context(), Subject{Image: img, Platform: parse(t, "linux/amd64"), Base: &Base{}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestHostileLayersEndInAFinding(t *testing.T) {
	head := func(h tar.Header) []byte {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"no archive":        {bytes.Repeat([]byte("x"), 1024), "layer 1 (sha256:"},
		"cut short":         {archive(t, file{name: "a", data: strings.Repeat("x", 100)})[:550], "cannot be unpacked: read layer"},
		"hard link outside": {head(tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "../../etc/passwd"}), `hard link to "../../etc/passwd", which is not in this layer`},
		"long name":         {head(tar.Header{Name: strings.Repeat("a/", 3000) + "a", Typeflag: tar.TypeReg}), "name longer than 4096 bytes"},
		"unknown type":      {head(tar.Header{Name: "a", Typeflag: 'Z'}), "unhandled tar header type"},
	} {
		t.Run(name, func(t *testing.T) {
			img := imageOf(t, "linux/amd64", starts("/app"), rawLayer(t, c.data))
			found := audit(t, img, Options{})
			if got := says(found); !strings.Contains(got, c.says) || strings.Contains(got, "\n") {
				t.Errorf("says\n%s\nwant\n%s", got, c.says)
			}
			if !strings.Contains(unsure(found), "ENTRYPOINT /app is not in the layers that could be read") {
				t.Error(unsure(found))
			}
		})
	}
}

// Paths that lead out of the image lead to its root, as everywhere.
func TestPathsEndAtTheRoot(t *testing.T) {
	img := imageOf(t, "linux/amd64", starts("/run"), layerOf(t,
		file{name: "../../app", data: program(t, "linux/amd64")},
		file{name: "run", link: "../../../../app"}))
	if got := says(audit(t, img, Options{})); got != "" {
		t.Error(got)
	}
}

func TestABombEndsInAFindingWithoutTheMemory(t *testing.T) {
	b := &bounded{left: 1 << 20, most: 1 << 20, compressed: 1000, ctx: t.Context(), ReadCloser: nopCloser{endless{}}}
	n := 0
	var err error
	for buf := make([]byte, 64<<10); err == nil; n++ {
		_, err = b.Read(buf)
	}
	if n != 17 || err.Error() != "more than 1048576 bytes out of 1000 compressed ones" {
		t.Error(n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&bounded{left: 1, ctx: ctx, ReadCloser: nopCloser{endless{}}}).Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

type nopCloser struct{ endless }

func (nopCloser) Close() error { return nil }

// What is large and no program passes through, and is kept nowhere.
func TestLargeFilesAreNotKept(t *testing.T) {
	app := program(t, "linux/amd64")
	img := imageOf(t, "linux/amd64", starts("/app"), layerOf(t,
		file{name: "model", data: strings.Repeat("m", 48<<20)},
		file{name: "app", data: app + strings.Repeat("\x00", 1<<20)}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found := audit(t, img, Options{Dir: t.TempDir()})
	runtime.ReadMemStats(&after)
	if got := says(found); got != "" {
		t.Error(got)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 24<<20 {
		t.Errorf("%d bytes of memory", used)
	}
}

func TestNothingStaysBehind(t *testing.T) {
	dir := t.TempDir()
	audit(t, appFor(t, "linux/amd64", "linux/amd64"), Options{Dir: dir})
	if left := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(left) > 0 {
		t.Error(left)
	}
}

func TestNoRoomIsNoFindingOfTheImage(t *testing.T) {
	found, err := Image(t.Context(), Subject{Image: appFor(t, "linux/amd64", "linux/amd64"), Platform: parse(t, "linux/amd64")}, Options{Dir: "/nowhere/at/all"})
	if !errors.Is(err, os.ErrNotExist) || says(found) != "" {
		t.Error(err, says(found))
	}
}

func TestConfigAndLayersHaveToAgree(t *testing.T) {
	good := imageOf(t, "linux/amd64", v1.Config{}, layerOf(t, file{name: "a", data: "a"}))
	lies := func(change func(*v1.ConfigFile)) v1.Image {
		c := must[*v1.ConfigFile](t)(good.ConfigFile()).DeepCopy()
		change(c)
		return withConfig{good, c}
	}
	for want, img := range map[string]v1.Image{
		"1 layers, but its config lists 0": lies(func(c *v1.ConfigFile) { c.RootFS.DiffIDs = nil }),
		"unpacks to sha256:":               lies(func(c *v1.ConfigFile) { c.RootFS.DiffIDs[0].Hex = strings.Repeat("0", 64) }),
		"its config names no platform":     lies(func(c *v1.ConfigFile) { c.OS, c.Architecture = "", "" }),
	} {
		if got := says(audit(t, img, Options{})); !strings.Contains(got, want) {
			t.Errorf("says %q, want %q", got, want)
		}
	}
}

// withConfig is an image with another config.
type withConfig struct {
	v1.Image
	config *v1.ConfigFile
}

func (w withConfig) RawConfigFile() ([]byte, error) {
	return []byte(fmt.Sprintf(`{"os":%q,"architecture":%q,"rootfs":{"diff_ids":[%s]}}`, w.config.OS, w.config.Architecture, ids(w.config))), nil
}

func ids(c *v1.ConfigFile) string {
	var list []string
	for _, h := range c.RootFS.DiffIDs {
		list = append(list, fmt.Sprintf("%q", h))
	}
	return strings.Join(list, ",")
}

func TestWhatIsNotKnownHere(t *testing.T) {
	foreign := static.NewLayer([]byte("x"), types.OCIRestrictedLayer)
	for want, img := range map[string]v1.Image{
		"what an image for windows holds is not known here": imageOf(t, "windows/amd64", v1.Config{}),
		"the architecture sparc is not known here":          imageOf(t, "linux/sparc", v1.Config{}),
		"is not stored with the image":                      imageOf(t, "linux/amd64", v1.Config{}, foreign),
	} {
		found, err := Image(t.Context(), Subject{Image: img}, Options{})
		if err != nil || says(found) != "" || !strings.Contains(unsure(found), want) {
			t.Errorf("%v: %q, not checked %q, want %q", err, says(found), unsure(found), want)
		}
	}
}

// A base that the caller knows is read for its headers once, and then not at all.
func TestAKnownBaseIsRemembered(t *testing.T) {
	base := &counted{Layer: layerOf(t, file{name: "usr/bin/"}, file{name: "bin", link: "usr/bin"})}
	config := must[[]byte](t)(imageOf(t, "linux/amd64", v1.Config{}, base.Layer).RawConfigFile())
	img := imageOf(t, "linux/amd64", starts("/bin/app"), base, layerOf(t, file{name: "usr/bin/app", data: program(t, "linux/amd64")}))
	reads := base.reads
	o := Options{Indexes: rootfs.Indexes{Dir: t.TempDir()}}
	for range 3 {
		found, err := Image(t.Context(), Subject{Image: img, Platform: parse(t, "linux/amd64"), Base: &Base{config}}, o)
		if err != nil || says(found) != "" {
			t.Fatal(err, says(found))
		}
	}
	if base.reads != reads+1 {
		t.Errorf("read %d times", base.reads-reads)
	}
}
