package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// typesOf are the media types of manifest, config and layers, as written.
func typesOf(t *testing.T, img v1.Image) []types.MediaType {
	t.Helper()
	var m v1.Manifest
	must(t, json.Unmarshal(value[[]byte](t)(img.RawManifest()), &m))
	if is := value[types.MediaType](t)(img.MediaType()); is != m.MediaType {
		t.Errorf("manifest is %s and says %s", is, m.MediaType)
	}
	list := []types.MediaType{m.MediaType, m.Config.MediaType}
	for i, l := range layersOf(t, img) {
		if is := value[types.MediaType](t)(l.MediaType()); is != m.Layers[i].MediaType {
			t.Errorf("layer %d is %s and the manifest says %s", i, is, m.Layers[i].MediaType)
		}
		list = append(list, m.Layers[i].MediaType)
	}
	return list
}

// intact reads all of an image and compares it with what manifest and config
// say.
func intact(t *testing.T, img v1.Image) {
	t.Helper()
	m, c := value[*v1.Manifest](t)(img.Manifest()), value[*v1.ConfigFile](t)(img.ConfigFile())
	layers := layersOf(t, img)
	if len(m.Layers) != len(layers) || len(c.RootFS.DiffIDs) != len(layers) {
		t.Fatalf("%d layers, %d in the manifest, %d in the config", len(layers), len(m.Layers), len(c.RootFS.DiffIDs))
	}
	for i, l := range layers {
		packed, plain := value[io.ReadCloser](t)(l.Compressed()), value[io.ReadCloser](t)(l.Uncompressed())
		digest, size, err := v1.SHA256(packed)
		must(t, errors.Join(err, packed.Close()))
		diffID, _, err := v1.SHA256(plain)
		must(t, errors.Join(err, plain.Close()))
		if digest != m.Layers[i].Digest || size != m.Layers[i].Size || diffID != c.RootFS.DiffIDs[i] {
			t.Errorf("layer %d is %s, %d bytes, %s; %+v, %s are said", i, digest, size, diffID, m.Layers[i], c.RootFS.DiffIDs[i])
		}
	}
}

func TestMediaTypesAreOfOneFamily(t *testing.T) {
	n := newNative(t)
	docker := tarLayer(t, "etc/", "etc/x=1")
	docker.mediaType = types.DockerLayer
	ref := n.push(t, "base", docker, tarLayer(t, "usr/"))
	dir := plant(t, map[string]string{"a": "1"})
	for _, tt := range []struct {
		format Format
		want   []types.MediaType
	}{
		{Format{}, []types.MediaType{
			types.OCIManifestSchema1, types.OCIConfigJSON, types.OCILayer, types.OCILayer, types.OCILayer,
		}},
		{Format{Docker: true}, []types.MediaType{
			types.DockerManifestSchema2, types.DockerConfigJSON, types.DockerLayer, types.DockerLayer, types.DockerLayer,
		}},
		{Format{Zstd: true}, []types.MediaType{
			types.OCIManifestSchema1, types.OCIConfigJSON, types.OCILayer, types.OCILayer, types.OCILayerZStd,
		}},
	} {
		r := n.request(t, dir, "FROM "+ref+"\nCOPY a /a\n")
		r.Format = tt.format
		img := value[v1.Image](t)(n.Build(t.Context(), r))
		if got := typesOf(t, img); !slices.Equal(got, tt.want) {
			t.Errorf("%+v:\n%v\nwant\n%v", tt.format, got, tt.want)
		}
		intact(t, img)
	}
}

func TestAnImageIsItsBytes(t *testing.T) {
	n := newNative(t)
	r := n.request(t, plant(t, map[string]string{"a": "1"}), "FROM scratch\nCOPY a /a\n")
	r.Annotations = map[string]string{"z": "1", "a": "<2>"}
	img := value[v1.Image](t)(n.Build(t.Context(), r))
	manifest, config := value[[]byte](t)(img.RawManifest()), value[[]byte](t)(img.RawConfigFile())
	if h := value[v1.Hash](t)(hashOf(manifest)); h.String() != digestOf(t, img) {
		t.Errorf("digest %s of bytes with %s", digestOf(t, img), h)
	}
	if size := value[int64](t)(img.Size()); size != int64(len(manifest)) {
		t.Errorf("size %d of %d bytes", size, len(manifest))
	}
	name := value[v1.Hash](t)(img.ConfigName())
	if h := value[v1.Hash](t)(hashOf(config)); h != name {
		t.Errorf("config %s of bytes with %s", name, h)
	}
	if want := []byte(`"annotations":{"a":"\u003c2\u003e","z":"1"}`); !bytes.Contains(manifest, want) {
		t.Errorf("%s\nwithout %s", manifest, want)
	}
	if got := value[*v1.ConfigFile](t)(img.ConfigFile()); got.OS != "linux" || got.Architecture != "amd64" {
		t.Errorf("config for %s/%s", got.OS, got.Architecture)
	}
}

func TestAManifestThatWasHandedOutIsACopy(t *testing.T) {
	n := newNative(t)
	img := n.build(t, plant(t, map[string]string{"a": "1"}), "FROM scratch\nCOPY a /a\n")
	before := digestOf(t, img)
	m := value[*v1.Manifest](t)(img.Manifest())
	m.Layers[0].Size++
	m.Config.MediaType = "x"
	if again := value[*v1.Manifest](t)(img.Manifest()); again.Layers[0].Size == m.Layers[0].Size || again.Config.MediaType == "x" {
		t.Error("the image changed with it")
	}
	if digestOf(t, img) != before {
		t.Error("the digest changed with it")
	}
}

func TestLayersAreFoundByBothDigests(t *testing.T) {
	n := newNative(t)
	img := n.build(t, plant(t, map[string]string{"a": "1", "b": "2"}), "FROM scratch\nCOPY a /a\nCOPY b /b\n")
	for _, l := range layersOf(t, img) {
		if got := value[v1.Layer](t)(img.LayerByDigest(value[v1.Hash](t)(l.Digest()))); got != l {
			t.Errorf("by digest: %v", got)
		}
		if got := value[v1.Layer](t)(img.LayerByDiffID(value[v1.Hash](t)(l.DiffID()))); got != l {
			t.Errorf("by diff ID: %v", got)
		}
	}
	config := value[v1.Layer](t)(img.LayerByDigest(value[v1.Hash](t)(img.ConfigName())))
	rc := value[io.ReadCloser](t)(config.Compressed())
	if got := value[[]byte](t)(io.ReadAll(rc)); !bytes.Equal(got, value[[]byte](t)(img.RawConfigFile())) {
		t.Errorf("the config as a layer is %s", got)
	}
	none := v1.Hash{Algorithm: "sha256", Hex: "00"}
	for _, find := range []func(v1.Hash) (v1.Layer, error){img.LayerByDigest, img.LayerByDiffID} {
		if l, err := find(none); err == nil || l != nil {
			t.Errorf("found %v", l)
		}
	}
}
