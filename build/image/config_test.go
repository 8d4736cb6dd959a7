package image

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
)

// fixedLayers are layers of a config, named a, b, …
func fixedLayers(names ...string) []layer {
	var list []layer
	for _, name := range names {
		id := v1.Hash{Algorithm: "sha256", Hex: strings.Repeat(name, 64)}
		list = append(list, layer{&blob{description: description{diffID: id}}, "made " + name})
	}
	return list
}

// export is the config of a request with that one, its fields as they are.
func export(t *testing.T, config string, layers ...layer) map[string]json.RawMessage {
	t.Helper()
	r := Request{Recipe: &dockerfile.Recipe{Config: json.RawMessage(config)}, Created: someTime}
	out := value[[]byte](t)(exportConfig(r, layers))
	fields := map[string]json.RawMessage{}
	must(t, json.Unmarshal(out, &fields))
	return fields
}

func field(t *testing.T, fields map[string]json.RawMessage, key, want string) {
	t.Helper()
	if got := string(fields[key]); got != want {
		t.Errorf("%s: %s\nwant %s", key, got, want)
	}
}

// As many lines stand for a layer as there are layers, in BuildKit v0.34.2's way
// of getting there.
func TestHistoryAndLayersAgree(t *testing.T) {
	const at = `"created":"2023-11-14T22:13:20Z",`
	for _, tt := range []struct{ name, layers, history, want string }{
		{
			"equal", "ab", `[{"created_by":"1"},{"created_by":"ENV","empty_layer":true},{"created_by":"2"}]`,
			`[{` + at + `"created_by":"1"},{` + at + `"created_by":"ENV","empty_layer":true},{` + at + `"created_by":"2"}]`,
		},
		{
			"fewer lines: the last layers are described", "abc", `[{"created_by":"1"},{"created_by":"ENV","empty_layer":true}]`,
			`[{` + at + `"created_by":"1"},{` + at + `"created_by":"ENV","empty_layer":true},` +
				`{` + at + `"created_by":"made b","comment":"buildkit.exporter.image.v0"},` +
				`{` + at + `"created_by":"made c","comment":"buildkit.exporter.image.v0"}]`,
		},
		{"no lines", "a", `null`, `[{` + at + `"created_by":"made a","comment":"buildkit.exporter.image.v0"}]`},
		{
			"more lines: the last ones are empty", "a", `[{"created_by":"1"},{"created_by":"2"},{"created_by":"3"}]`,
			`[{` + at + `"created_by":"1"},{` + at + `"created_by":"2","empty_layer":true},{` + at + `"created_by":"3","empty_layer":true}]`,
		},
		{"no layers", "", `[{"created_by":"1"}]`, `[{` + at + `"created_by":"1","empty_layer":true}]`},
		{
			"times stay", "a", `[{"created":"2001-02-03T04:05:06.789Z","created_by":"1","author":"x","comment":"y"}]`,
			`[{"created":"2001-02-03T04:05:06.789Z","created_by":"1","author":"x","comment":"y"}]`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			layers := fixedLayers(strings.Split(tt.layers, "")...)
			field(t, export(t, `{"history":`+tt.history+`}`, layers...), "history", tt.want)
		})
	}
	t.Run("no history at all", func(t *testing.T) {
		field(t, export(t, `{}`), "history", `[]`)
	})
}

func TestHistoryIsNotChangedInPlace(t *testing.T) {
	config := []byte(`{"history":[{"created_by":"1"}]}`)
	before := bytes.Clone(config)
	r := Request{Recipe: &dockerfile.Recipe{Config: config}, Created: someTime}
	one := value[[]byte](t)(exportConfig(r, nil))
	r.Created = someTime.Add(time.Hour)
	value[[]byte](t)(exportConfig(r, fixedLayers("a")))
	r.Created = someTime
	if again := value[[]byte](t)(exportConfig(r, nil)); !bytes.Equal(one, again) || !bytes.Equal(config, before) {
		t.Errorf("%s, then %s; recipe %s", one, again, config)
	}
}

// Go types that do not know a field would drop it, and it must not be encoded
// in another way either: what the front end wrote is what is published.
func TestUnknownFieldsStayByteForByte(t *testing.T) {
	const healthcheck = `{"Test":["CMD","/app","\u003ca \u0026 b\u003e","ü"],"Interval":1.50e9,"StartInterval":2000000000}`
	const config = `{"Healthcheck":` + healthcheck + `,"Zeta":1,"Alpha":{"b":1,"a":2}}`
	fields := export(t, `{"architecture":"arm","variant":"v7","os.features":["x"],"config":`+config+`,"future":[1,{"z":1,"a":null}]}`)
	field(t, fields, "config", config)
	field(t, fields, "future", `[1,{"z":1,"a":null}]`)
	field(t, fields, "architecture", `"arm"`)
	field(t, fields, "variant", `"v7"`)
	field(t, fields, "os.features", `["x"]`)
	if len(fields) != 8 {
		t.Errorf("%d fields: %s", len(fields), fields)
	}
}

func TestStartIntervalReachesTheImage(t *testing.T) {
	n := newNative(t)
	img := n.build(t, plant(t, nil), "FROM scratch\nHEALTHCHECK --interval=1s --start-interval=2s CMD [\"/a\", \"<&>\"]\n")
	raw := value[[]byte](t)(img.RawConfigFile())
	if want := `"Healthcheck":{"Test":["CMD","/a","\u003c\u0026\u003e"],"Interval":1000000000,"StartInterval":2000000000}`; !bytes.Contains(raw, []byte(want)) {
		t.Errorf("%s\nwithout %s", raw, want)
	}
}

// Docker refuses an image whose lists are null.
func TestNoLayersAreAnEmptyList(t *testing.T) {
	n := newNative(t)
	img := n.build(t, plant(t, nil), "FROM scratch\nENV A=1\n")
	manifest, config := value[[]byte](t)(img.RawManifest()), value[[]byte](t)(img.RawConfigFile())
	if !bytes.Contains(manifest, []byte(`"layers":[]`)) {
		t.Errorf("manifest %s", manifest)
	}
	if want := []byte(`"rootfs":{"type":"layers","diff_ids":[]}`); !bytes.Contains(config, want) {
		t.Errorf("config %s\nwithout %s", config, want)
	}
	if want := []byte(`"created":"2023-11-14T22:13:20Z"`); bytes.Count(config, want) != 2 {
		t.Errorf("config %s\nshould say %s twice: for the image and for ENV", config, want)
	}
}

func TestTheRootFSListsTheLayersInOrder(t *testing.T) {
	fields := export(t, `{"rootfs":{"type":"layers","diff_ids":["sha256:old"]},"created":"1999-01-01T00:00:00Z"}`, fixedLayers("b", "a")...)
	field(t, fields, "rootfs", `{"type":"layers","diff_ids":["sha256:`+strings.Repeat("b", 64)+`","sha256:`+strings.Repeat("a", 64)+`"]}`)
	field(t, fields, "created", `"2023-11-14T22:13:20Z"`)
}

func TestAConfigThatIsNoneIsAnError(t *testing.T) {
	for _, config := range []string{"", "null", "[]", `{"history":{}}`} {
		r := Request{Recipe: &dockerfile.Recipe{Config: json.RawMessage(config)}}
		if out, err := exportConfig(r, nil); err == nil {
			t.Errorf("%q made %s", config, out)
		}
	}
}
