package parity

import (
	"strings"
	"testing"
)

// sample is an image with every property that is compared.
const (
	sampleConfig = `{"architecture":"amd64","os":"linux","created":"2020-01-01T00:00:00Z","author":"me",
"config":{"Env":["A=1","B=2"],"Cmd":["x"],"Labels":{"k":"v"},"ExposedPorts":{"80/tcp":{}},"Healthcheck":{"Interval":9007199254740993}},
"rootfs":{"type":"layers","diff_ids":["sha256:base","sha256:new"]},
"history":[{"created":"2020-01-01T00:00:00Z","created_by":"one"},{"created_by":"ENV A=1","comment":"c","empty_layer":true},{"created_by":"two"}]}`
	sampleBase = `
dir d 0755 1:2
file d/f 0644 3:4 text=content
file d/h text=linked
hard d/i to=d/h
sym d/s to=f
chr d/null 0666 dev=1:3
file d/cap cap=1
fifo d/fifo`
	sampleTop = `
dir d 0755 1:2
file d/new
file d/.wh.fifo text=""`
)

func imageOf(t *testing.T, config string, layers ...string) *Image {
	t.Helper()
	i := &Image{MediaType: ociManifest, ConfigType: ociConfig, Config: []byte(config)}
	for _, l := range layers {
		data, err := tarOf(specLines(l))
		if err != nil {
			t.Fatal(err)
		}
		i.Layers = append(i.Layers, Layer{MediaType: ociLayer + "+gzip", Tar: data})
	}
	return i
}

func compareSamples(t *testing.T, change func(config, base, top string) (string, string, string)) string {
	t.Helper()
	want := imageOf(t, sampleConfig, sampleBase, sampleTop)
	config, base, top := change(sampleConfig, sampleBase, sampleTop)
	got := imageOf(t, config, base, top)
	diffs, err := Compare(want, got, Rules{Bases: map[string]bool{"sha256:base": true}})
	if err != nil {
		t.Fatal(err)
	}
	return Outcome{Diffs: diffs}.String()
}

// Each change of a compared property is a difference that names it.
func TestCompareSeesEveryProperty(t *testing.T) {
	for _, c := range []struct{ where, old, new, says string }{
		{"config", `"amd64"`, `"arm64"`, "config.architecture"},
		{"config", `"linux"`, `"windows"`, "config.os"},
		{"config", `"os":`, `"variant":"v8","os":`, "config.variant"},
		{"config", `"author":"me"`, `"author":"you"`, "config.author"},
		{"config", `"created":"2020-01-01T00:00:00Z","author"`, `"created":null,"author"`, "config.created"},
		{"config", `["A=1","B=2"]`, `["B=2","A=1"]`, "config.config.Env[0]"},
		{"config", `["A=1","B=2"]`, `["A=1"]`, "config.config.Env[1]"},
		{"config", `"Cmd":["x"]`, `"Cmd":[]`, "config.config.Cmd"},
		{"config", `"Cmd":["x"],`, ``, "config.config.Cmd"},
		{"config", `"k":"v"`, `"k":"w"`, "config.config.Labels.k"},
		{"config", `"80/tcp"`, `"81/tcp"`, "config.config.ExposedPorts.81/tcp"},
		{"config", `9007199254740993`, `9007199254740992`, "Healthcheck.Interval"},
		{"config", `sha256:base`, `sha256:other`, "config.rootfs.diff_ids[0]"},
		{"config", `"created_by":"one"`, `"created_by":"uno"`, "config.history[0].created_by"},
		{"config", `"comment":"c"`, `"comment":"d"`, "config.history[1].comment"},
		{"config", `,"empty_layer":true`, ``, "config.history[1].empty_layer"},
		{"config", `,{"created_by":"two"}`, ``, "config.history[2].created_by"},
		{"base", `file d/f 0644`, `file d/f 0600`, `tree "/d/f" mode`},
		{"base", `file d/f 0644`, `file d/f 4644`, `tree "/d/f" mode`},
		{"base", `dir d 0755 1:2`, `dir d 1755 1:2`, `tree "/d" mode`},
		{"base", `0644 3:4`, `0644 5:4`, `tree "/d/f" owner`},
		{"base", `0644 3:4`, `0644 3:5`, `tree "/d/f" owner`},
		{"base", `text=content`, `text=kontent`, `tree "/d/f" content`},
		{"base", `text=content`, `text=contents`, `tree "/d/f" size`},
		{"base", `text=content`, `text=content time=7`, `tree "/d/f" mtime`},
		{"base", `hard d/i to=d/h`, `file d/i text=linked`, `tree "/d/h" hard links`},
		{"base", `hard d/i to=d/h`, `hard d/i to=d/f`, `hard links`},
		{"base", `sym d/s to=f`, `sym d/s to=./f`, `tree "/d/s" target`},
		{"base", `sym d/s to=f`, `file d/s`, `tree "/d/s" type`},
		{"base", `dev=1:3`, `dev=1:5`, `tree "/d/null" device`},
		{"base", `dev=1:3`, `dev=2:3`, `tree "/d/null" device`},
		{"base", `chr d/null`, `blk d/null`, `tree "/d/null" type`},
		{"base", `file d/cap cap=1`, `file d/cap`, `xattr security.capability`},
		{"base", `file d/cap cap=1`, `file d/cap cap=1 xattr.user.x=y`, `xattr user.x`},
		{"base", `file d/cap cap=1`, ``, `tree "/d/cap"`},
		{"top", `file d/new`, `file d/new2`, `tree "/d/new"`},
		{"top", `file d/.wh.fifo text=""`, ``, `tree "/d/fifo"`},
		{"top", `file d/.wh.fifo text=""`, `file d/.wh..wh..opq text=""`, `tree "/d/f"`},
		{"top", `dir d 0755 1:2`, `dir d 0750 1:2`, "after layer 2 of 2"},
	} {
		t.Run(c.says+" "+c.new, func(t *testing.T) {
			got := compareSamples(t, func(config, base, top string) (string, string, string) {
				texts := map[string]*string{"config": &config, "base": &base, "top": &top}
				at := texts[c.where]
				if !strings.Contains(*at, c.old) {
					t.Fatalf("the sample has no %s", c.old)
				}
				*at = strings.Replace(*at, c.old, c.new, 1)
				return config, base, top
			})
			if !strings.Contains(got, c.says) {
				t.Errorf("differences do not name %q:\n%s", c.says, got)
			}
		})
	}
}

func TestCompareFindsNoDifferenceInEqualImages(t *testing.T) {
	same := func(config, base, top string) (string, string, string) { return config, base, top }
	if got := compareSamples(t, same); got != "" {
		t.Error(got)
	}
}

// What normalize.go allows is no difference.
func TestCompareAllowsWhatIsMeant(t *testing.T) {
	for name, change := range map[string]func(config, base, top string) (string, string, string){
		"times in the config": func(c, b, t string) (string, string, string) {
			return strings.ReplaceAll(c, "2020-", "1970-"), b, t
		},
		"IDs of added layers": func(c, b, t string) (string, string, string) {
			return strings.Replace(c, "sha256:new", "sha256:newer", 1), b, t
		},
		"unchanged entries listed again": func(c, b, t string) (string, string, string) {
			return c, b, t + "\nsym d/s to=f\nfile d/f 0644 3:4 text=content"
		},
		"parents not listed": func(c, b, t string) (string, string, string) {
			return c, b, strings.Replace(t, "dir d 0755 1:2", "", 1)
		},
		"times of directories": func(c, b, t string) (string, string, string) {
			return c, strings.Replace(b, "dir d 0755 1:2", "dir d 0755 1:2 time=9", 1), t
		},
		"order of entries": func(c, b, t string) (string, string, string) {
			return c, strings.Replace(b, "\nfifo d/fifo", "", 1) + "\nfifo d/fifo", t
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := compareSamples(t, change); got != "" {
				t.Error(got)
			}
		})
	}
}

func TestCompareAllowsTimesOfContextsAndBuilds(t *testing.T) {
	old := imageOf(t, `{"rootfs":{"diff_ids":["a"]}}`, "file x time=0")
	for _, time := range []string{"1041379200", "1583280000", "1893456000", "-5"} {
		got := imageOf(t, `{"rootfs":{"diff_ids":["a"]}}`, "file x time="+time)
		if diffs, err := Compare(old, got, Rules{}); err != nil || len(diffs) > 0 {
			t.Errorf("time %s: %v %v", time, diffs, err)
		}
	}
	got := imageOf(t, `{"rootfs":{"diff_ids":["a"]}}`, "file x time=1041379199")
	if diffs, _ := Compare(old, got, Rules{}); len(diffs) == 0 {
		t.Error("a time before those of contexts is no difference")
	}
}

func TestCompareAllowsInventedHistoryTexts(t *testing.T) {
	config := func(text string) string {
		return `{"rootfs":{"diff_ids":["a"]},"history":[{"created_by":"` + text + `","comment":"buildkit.exporter.image.v0"}]}`
	}
	diffs, err := Compare(imageOf(t, config("pulled from x"), "dir d"), imageOf(t, config("[1/1] COPY"), "dir d"), Rules{})
	if err != nil || len(diffs) > 0 {
		t.Error(diffs, err)
	}
}

func TestCompareSeesMediaTypesAndMissingLayers(t *testing.T) {
	want := imageOf(t, `{}`, "file a", "file b")
	for name, change := range map[string]func(*Image){
		"manifest mediaType":         func(i *Image) { i.MediaType = dockerManifest },
		"manifest config mediaType":  func(i *Image) { i.ConfigType = dockerConfig },
		"manifest layer 2 mediaType": func(i *Image) { i.Layers[1].MediaType = ociLayer },
		"manifest layers":            func(i *Image) { i.Layers = i.Layers[:1] },
		`tree "/b" type`:             func(i *Image) { i.Layers = i.Layers[:1] },
		// The last tree is the same: the first is what differs.
		"after layer 1 of 2": func(i *Image) { i.Layers[0], i.Layers[1] = i.Layers[1], i.Layers[0] },
	} {
		got := imageOf(t, `{}`, "file a", "file b")
		change(got)
		diffs, err := Compare(want, got, Rules{})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(diffs, "\n"); !strings.Contains(said, name) {
			t.Errorf("differences do not name %q:\n%s", name, said)
		}
	}
}
