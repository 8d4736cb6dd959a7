package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/config"
	"github.com/archmage-go/archmage/build/console"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/publish"
	"github.com/archmage-go/archmage/build/registry"
)

// labelled is an image that counts how often its layers are asked for.
type labelled struct {
	v1.Image
	label  string
	layers *int
}

func (l labelled) RawConfigFile() ([]byte, error) {
	return fmt.Appendf(nil, `{"os":"linux","architecture":"arm64","config":{"Labels":{%q:%q}},"rootfs":{"diff_ids":[]}}`, legLabel, l.label), nil
}

func (l labelled) Manifest() (*v1.Manifest, error) {
	return &v1.Manifest{Config: v1.Descriptor{MediaType: types.OCIConfigJSON}}, nil
}

func (l labelled) Layers() ([]v1.Layer, error) {
	*l.layers++
	return nil, nil
}

// Of its own legs archmage has seen the layers when it built them. What others
// build on such an image inherits its labels, and is another image.
func TestManifestReadsLayersOfForeignLegsAlone(t *testing.T) {
	arm := platform.Platform{OS: "linux", Arch: "arm64"}
	p := &Project{Settings: &config.Settings{Verify: true}, console: console.New(io.Discard, io.Discard)}
	join := publish.Join{Image: "app", Repo: registry.OpenLayout(t.TempDir(), "dist/app")}
	for label, want := range map[string]int{
		legName("app", arm):  0,
		legName("base", arm): 1,
		"app linux/amd64":    1,
		"":                   1,
	} {
		layers := 0
		if err := p.checkLeg()(t.Context(), join, publish.Leg{Platform: arm, Tag: "v1-arm64"}, labelled{label: label, layers: &layers}); err != nil || layers != want {
			t.Errorf("%q: layers asked for %d times, error %v", label, layers, err)
		}
	}
}

func TestFindingsStopUnlessVerifyIsOff(t *testing.T) {
	found := []audit.Finding{{Message: "a", Fix: "do"}, {Message: "b", NotChecked: true}, {Message: "c"}}
	p := &Project{Settings: &config.Settings{Verify: true}, console: console.New(io.Discard, io.Discard)}
	err := p.refuse("image app", found)
	if ExitCode(err) != ExitFindings || console.Text(err) != "image app: a\n  hint: do\nimage app: c" {
		t.Errorf("%q", console.Text(err))
	}
	var out bytes.Buffer
	p = &Project{Settings: &config.Settings{}, console: console.New(io.Discard, &out)}
	if err := p.refuse("image app", found); err != nil || out.String() != "warning: image app: a\nwarning: image app: c\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestSplitRef(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for text, want := range map[string][2]string{
		"app":                       {"app", ""},
		"r:5000/app":                {"r:5000/app", ""},
		"r:5000/app:v1":             {"r:5000/app", "v1"},
		"r/app@" + digest:           {"r/app", digest},
		"r:5000/app:v1@" + digest:   {"r:5000/app", digest},
		"dist/app:v1-arm64":         {"dist/app", "v1-arm64"},
		"/abs/app":                  {"/abs/app", ""},
		"r/app@sha256:00":           {},
		"r/app:-x":                  {},
		"r/app:":                    {},
		"":                          {},
		":v1":                       {},
		"@" + digest:                {},
		"r/app:" + digest[7:] + "x": {"r/app", digest[7:] + "x"},
	} {
		name, ref, err := splitRef(text)
		if (err == nil) != (want[0] != "") || err == nil && (name != want[0] || ref != want[1]) {
			t.Errorf("%q: %q, %q, %v", text, name, ref, err)
		}
		if err != nil && ExitCode(err) != ExitUsage {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A base's registry that gives no answer is asked once per run.
func TestARegistryThatIsSilentIsNotAskedAgain(t *testing.T) {
	p := &Project{client: registry.New(registry.Options{})}
	read := p.baseConfig()
	digest := "sha256:" + strings.Repeat("a", 64)
	_, first := read(t.Context(), "127.0.0.1:1/base:1", digest, platform.Host())
	_, again := read(t.Context(), "127.0.0.1:1/other:1", digest, platform.Host())
	if first == nil || again != first {
		t.Errorf("%v, then %v", first, again)
	}
	s := silence{}
	s.add("r/x", registry.ErrAbsent)
	if err := s.of("r/x"); err != nil {
		t.Error("a base that is not there silences its registry")
	}
	if _, err := read(t.Context(), "r/base", "none", platform.Host()); err == nil || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
