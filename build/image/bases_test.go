package image

import (
	"testing"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// Names in a Dockerfile come in many forms; what was resolved under one must be
// found again by the recipe, which has BuildKit's form of it.
func TestABaseIsFoundHoweverItIsNamed(t *testing.T) {
	n := newNative(t)
	ref := n.push(t, "base", tarLayer(t, "etc/", "etc/x=base"))
	repo := n.registry.host + "/base"
	base := value[dockerfile.ResolvedBase](t)(n.Bases.Resolve(t.Context(), ref, amd64))
	for _, name := range []string{ref, repo + "@" + base.Digest, ref + "@" + base.Digest} {
		img := n.build(t, plant(t, map[string]string{"a": "1"}), "FROM "+name+"\nCOPY a /etc/a\n")
		same(t, top(t, img), "etc/ 755 0:0 @0", "etc/a 644 0:0 @0 =1")
	}
}

func TestABaseSaysWhatItIs(t *testing.T) {
	n := newNative(t)
	ref := n.push(t, "base", tarLayer(t, "etc/"))
	r := n.recipe(t, plant(t, nil), "FROM "+ref+"\n")
	if p, ok := n.Bases.Platform(*r.FinalBase); !ok || p != amd64 {
		t.Errorf("platform %v, %v", p, ok)
	}
	if len(n.Bases.Config(r.FinalBase)) == 0 || n.Bases.Config(nil) != nil {
		t.Error("a base has a config, scratch has none")
	}
	unknown := dockerfile.Base{Ref: ref, Platform: platform.Platform{OS: "linux", Arch: "riscv64"}}
	if p, ok := n.Bases.Platform(unknown); ok {
		t.Errorf("a base that was never asked for is for %v", p)
	}
	_, err := n.Bases.Image(t.Context(), unknown)
	says(t, err, "base "+ref+": not resolved for linux/riscv64")
}
