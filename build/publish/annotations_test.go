package publish

import (
	"maps"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/registry"
)

func TestLegsCarryTheAnnotationsOfTheirIndex(t *testing.T) {
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		r := repo("app")
		same := map[string]string{"team": "x", Carried("index", "team"): "y", Carried("index", "vnd.docker.reference.type"): "z", Carried("index", ""): "empty", carriedPrefix + "later": "1"}
		amd := maps.Clone(same)
		amd[Carried("manifest-descriptor", "cpu")] = "fast"
		amd[Carried("manifest-descriptor", "vnd.docker.reference.type")] = "attestation-manifest"
		put(t, r, "dev-amd64", spec{platform: "linux/amd64", annotations: amd})
		put(t, r, "dev-arm64", spec{platform: "linux/arm64", annotations: same})
		if _, err := Manifest(t.Context(), []Join{join(t, r, "linux/amd64,linux/arm64", "dev")}, Options{}); err != nil {
			t.Fatal(err)
		}
		index := names(t, r, "dev")
		if want := map[string]string{"team": "y"}; !maps.Equal(index.Annotations, want) {
			t.Errorf("index has %q, want %q", index.Annotations, want)
		}
		if want := map[string]string{"cpu": "fast"}; !maps.Equal(index.Manifests[0].Annotations, want) || index.Manifests[1].Annotations != nil {
			t.Errorf("entries have %q and %q, want %q and none", index.Manifests[0].Annotations, index.Manifests[1].Annotations, want)
		}
	})
}

func TestLegsThatWantOtherAnnotationsAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ arm64, want string }{
		"another": {"b", "dev-arm64: it wants annotation k=b of its index, dev-amd64 wants annotation k=a"},
		"none":    {"", "dev-arm64: it wants no annotation k of its index, dev-amd64 wants annotation k=a"},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t).repo(t, "app")
			put(t, r, "dev-amd64", spec{platform: "linux/amd64", annotations: map[string]string{Carried("index", "k"): "a"}})
			arm := spec{platform: "linux/arm64"}
			if tt.arm64 != "" {
				arm.annotations = map[string]string{Carried("index", "k"): tt.arm64}
			}
			put(t, r, "dev-arm64", arm)
			_, err := Manifest(t.Context(), []Join{join(t, r, "linux/amd64,linux/arm64", "dev")}, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}
