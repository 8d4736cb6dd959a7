package parity

import (
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layeredImage has one plain layer per list of entries, each with a history line.
func layeredImage(t *testing.T, layers ...string) v1.Image {
	t.Helper()
	img := empty.Image
	for _, l := range layers {
		data, err := tarOf(specLines(l))
		if err != nil {
			t.Fatal(err)
		}
		img, err = mutate.Append(img, mutate.Addendum{
			Layer: static.NewLayer(data, types.OCIUncompressedLayer), History: v1.History{CreatedBy: l},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return img
}

func TestReadReadsLayers(t *testing.T) {
	got, err := Read(layeredImage(t, "file a", "file b"))
	if err != nil {
		t.Fatal(err)
	}
	tree := NewTree()
	for _, l := range got.Layers {
		if err := tree.Apply(l.Tar); err != nil {
			t.Fatal(err)
		}
	}
	if len(tree) != 3 || tree["/a"] == nil || tree["/b"] == nil {
		t.Error(tree.dump())
	}
}

// An image whose config does not fit its layers is broken, on either side.
func TestReadRefusesConfigsThatDoNotFit(t *testing.T) {
	for says, change := range map[string]func(*v1.ConfigFile){
		"1 diff IDs for 2 layers":             func(c *v1.ConfigFile) { c.RootFS.DiffIDs = c.RootFS.DiffIDs[:1] },
		"layer 1 is":                          func(c *v1.ConfigFile) { c.RootFS.DiffIDs[0] = c.RootFS.DiffIDs[1] },
		"history has 1 lines with a layer":    func(c *v1.ConfigFile) { c.History[1].EmptyLayer = true },
		"history has 0 lines with a layer":    func(c *v1.ConfigFile) { c.History = nil },
		"history has 3 lines with a layer, i": func(c *v1.ConfigFile) { c.History = append(c.History, v1.History{}) },
	} {
		img := layeredImage(t, "file a", "file b")
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		config = config.DeepCopy()
		change(config)
		if img, err = mutate.ConfigFile(img, config); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(img); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error is %v, want one with %q", err, says)
		}
	}
}

func TestUnpackReadsAllCompressions(t *testing.T) {
	for _, name := range []string{"gzip", "zstd", "plain", "x.tar.gz", "x.tgz", "x.tar.zst", "x.tar"} {
		packed, err := compress([]byte("text"), name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unpack(packed); err != nil || string(got) != "text" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
