package image

import (
	"errors"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func TestLayersOfABaseTakeTheImagesFamily(t *testing.T) {
	const (
		squashed  types.MediaType = "application/vnd.example.squashed"
		ociZstd                   = types.OCILayerZStd
		fromMoby                  = "application/vnd.docker.image.rootfs.diff.tar.zstd"
		plainOCI                  = types.OCIUncompressedLayer
		plainMoby                 = types.DockerUncompressedLayer
	)
	for _, tt := range []struct{ have, oci, docker types.MediaType }{
		{types.OCILayer, types.OCILayer, types.DockerLayer},
		{types.DockerLayer, types.OCILayer, types.DockerLayer},
		{plainOCI, plainOCI, plainMoby},
		{plainMoby, plainOCI, plainMoby},
		{ociZstd, ociZstd, fromMoby},
		{fromMoby, ociZstd, fromMoby},
		{types.OCIRestrictedLayer, types.OCIRestrictedLayer, types.DockerForeignLayer},
		{types.DockerForeignLayer, types.OCIRestrictedLayer, types.DockerForeignLayer},
		{squashed, squashed, squashed},
	} {
		for format, want := range map[Format]types.MediaType{
			{}: tt.oci, {Docker: true}: tt.docker, {Zstd: true}: tt.oci,
		} {
			l := &fakeLayer{mediaType: tt.have}
			got := retype(l, format)
			if have := value[types.MediaType](t)(got.MediaType()); have != want {
				t.Errorf("%s for %+v: %s, want %s", tt.have, format, have, want)
			}
			inner := v1.Layer(l)
			if changed, ok := got.(interface{ Unwrap() v1.Layer }); ok != (want != tt.have) {
				t.Errorf("%s for %+v: wrapped %v", tt.have, format, ok)
			} else if ok {
				got, inner = changed.Unwrap(), l
			}
			if got != inner {
				t.Errorf("%s for %+v: the layer inside is %v", tt.have, format, got)
			}
		}
	}
}

// mute does not know its type.
type mute struct{ *fakeLayer }

var errMute = errors.New("no type")

func (mute) MediaType() (types.MediaType, error) { return "", errMute }

func TestALayerWithoutATypeIsReportedWhenTheImageIsMade(t *testing.T) {
	l := mute{tarLayer(t)}
	if got := retype(l, Format{}); got != v1.Layer(l) {
		t.Errorf("became %v", got)
	}
	_, err := withManifest(Request{}, []byte("{}"), []layer{{l, "pulled from x"}})
	if !errors.Is(err, errMute) {
		t.Errorf("error %v", err)
	}
	says(t, err, "layer pulled from x: no type")
}
