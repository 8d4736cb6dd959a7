package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

const binForm = "bin/{name}-{os}-{arch}{variant}"

// copying is the recipe of an image FROM scratch that copies sources of the
// context, with a RUN in line 7 if one of them is "RUN".
func copying(p platform.Platform, sources ...string) *dockerfile.Recipe {
	r := &dockerfile.Recipe{Dockerfile: "Dockerfile", Platform: p, Ops: []dockerfile.Op{{Kind: dockerfile.KindContext, Context: &dockerfile.Context{Name: "context"}}}}
	tree := dockerfile.Scratch
	for _, s := range sources {
		at := []dockerfile.Range{{Start: dockerfile.Position{Line: 7}}}
		op := dockerfile.Op{Kind: dockerfile.KindRun, Ranges: at, Run: &dockerfile.Run{Parent: tree}}
		if s != "RUN" {
			op = dockerfile.Op{Kind: dockerfile.KindFile, Ranges: at, Inputs: []int{0}, File: &dockerfile.FileOp{
				Parent: tree, Actions: []dockerfile.Action{{Copy: &dockerfile.Copy{From: 0, Src: "/" + s, Dest: "/"}}},
			}}
		}
		r.Ops = append(r.Ops, op)
		tree = len(r.Ops) - 1
	}
	r.Result = tree
	return r
}

func platformsOf(t *testing.T, text string) []platform.Platform {
	t.Helper()
	all, _, err := platform.ParseList(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// facts are those of images that copy what is said of them on every platform;
// {arch} and {variant} stand for the platform's. Commands build everywhere.
func facts(t *testing.T, platforms string, images map[string]string, commands ...string) Facts {
	t.Helper()
	f := Facts{Platforms: platformsOf(t, platforms), Bin: binForm, Leg: legForm, Version: "v1", Engine: "auto", Recipes: map[string][]*dockerfile.Recipe{}}
	for _, name := range sortedKeys(images) {
		f.Images = append(f.Images, Image{Name: name, Dockerfile: "cmd/" + name + "/Dockerfile", Platforms: f.Platforms})
		for _, p := range f.Platforms {
			f.Recipes[name] = append(f.Recipes[name], copying(p, strings.Fields(p.Expand(images[name], ""))...))
		}
	}
	for _, name := range commands {
		f.Commands = append(f.Commands, Command{Name: name, Dir: "cmd/" + name, Module: ".", ImportPath: "m/cmd/" + name, Platforms: f.Platforms})
	}
	return f
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func plan(t *testing.T, f Facts) *Plan {
	t.Helper()
	p, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func paths(p *Plan) string {
	var all []string
	for _, b := range p.Binaries {
		all = append(all, strings.Join(append([]string{b.Path}, b.Also...), "="))
	}
	return strings.Join(all, " ")
}

func TestBinariesAreTheUnionOfWhatImagesCopy(t *testing.T) {
	for _, c := range []struct {
		name, platforms string
		images          map[string]string
		want            string
	}{
		{"nothing", "linux/amd64", nil, ""},
		{"data alone", "linux/amd64", map[string]string{"x": "config"}, ""},
		{
			"two images, one helper, sorted by command and then as platforms are listed", "linux/arm64,linux/amd64",
			map[string]string{"z": "bin/b-linux-{arch}", "y": "bin/b-linux-{arch} bin/a-linux-{arch}"},
			"bin/a-linux-arm64 bin/a-linux-amd64 bin/b-linux-arm64 bin/b-linux-amd64",
		},
		{"wildcard", "linux/amd64", map[string]string{"x": "bin/*-linux-{arch}"}, "bin/a-linux-amd64 bin/b-linux-amd64"},
		{"directory", "linux/amd64", map[string]string{"x": "bin"}, "bin/a-linux-amd64 bin/b-linux-amd64"},
		{"the whole context feeds a RUN", "linux/amd64", map[string]string{"x": ". RUN"}, ""},
		{"without the variant", "linux/arm/v7,linux/amd64", map[string]string{"x": "bin/a-linux-{arch}"}, "bin/a-linux-armv7=bin/a-linux-arm bin/a-linux-amd64"},
		{"with the variant", "linux/arm/v6", map[string]string{"x": "bin/a-linux-{arch}{variant}"}, "bin/a-linux-armv6=bin/a-linux-arm"},
		{"two variants have one name each", "linux/arm/v6,linux/arm/v7", map[string]string{"x": "bin/a-linux-{arch}{variant}"}, "bin/a-linux-armv6 bin/a-linux-armv7"},
		{"another platform's", "linux/amd64", map[string]string{"x": "bin/a-linux-arm64"}, ""},
		{"one of the names is a beginning of the other", "linux/amd64", map[string]string{"x": "bin/ab-linux-amd64"}, ""},
	} {
		if got := paths(plan(t, facts(t, c.platforms, c.images, "a", "b"))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestImagesKnowWhatTheyCopy(t *testing.T) {
	p := plan(t, facts(t, "linux/amd64", map[string]string{"x": "bin/b-linux-{arch} bin/a-linux-{arch}", "y": "config"}, "a", "b", "c"))
	if !slices.Equal(p.Images[0].Binaries, []string{"a", "b"}) || len(p.Images[1].Binaries) != 0 {
		t.Errorf("%+v", p.Images)
	}
}

func TestAContextBelowTheRoot(t *testing.T) {
	f := facts(t, "linux/amd64", map[string]string{"x": "a-linux-{arch}", "y": "bin/a-linux-{arch}"}, "a")
	f.Images[0].Context = "bin"
	f.Images[1].Context = "deploy" // which has a bin of its own
	p := plan(t, f)
	if paths(p) != "bin/a-linux-amd64" || len(p.Images[0].Binaries) != 1 || len(p.Images[1].Binaries) != 0 {
		t.Errorf("%s, %+v", paths(p), p.Images)
	}
}

func TestCommandsThatTheirImageCompilesFromSource(t *testing.T) {
	for _, c := range []struct {
		name   string
		images map[string]string
		want   string // why a needs no binary
	}{
		{"its image has RUN and no binary", map[string]string{"a": ". RUN"}, "RUN at cmd/a/Dockerfile:7"},
		{"another image copies it", map[string]string{"a": ". RUN", "b": "bin/a-linux-{arch}"}, ""},
		{"its image has RUN and copies it", map[string]string{"a": "bin/a-linux-{arch} RUN"}, ""},
		{"its image is data", map[string]string{"a": "config"}, ""},
		{"an image of another name", map[string]string{"c": ". RUN"}, ""},
	} {
		p := plan(t, facts(t, "linux/amd64", c.images, "a"))
		if p.Commands[0].Rebuilt != c.want || p.Images[0].Rebuilds != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, p.Commands[0].Rebuilt, p.Images[0].Rebuilds)
		}
	}
}

func TestACommandThatAPlatformExcludes(t *testing.T) {
	f := facts(t, "linux/amd64,linux/arm64", map[string]string{"x": "bin/a-linux-{arch}"}, "a", "b")
	f.Commands[0].Platforms = f.Platforms[:1]
	f.Commands[1].Platforms = nil // nobody copies it
	_, err := New(f)
	var u *UsageError
	if !errors.As(err, &u) || err.Error() != "command a: does not build for linux/arm64: its build constraints exclude every file" || u.Hint() == "" {
		t.Errorf("%v", err)
	}
	f.Images[0].Platforms, f.Recipes["x"] = f.Platforms[:1], f.Recipes["x"][:1]
	if got := paths(plan(t, f)); got != "bin/a-linux-amd64" {
		t.Error(got)
	}
}

func TestLegsAndTheirEngines(t *testing.T) {
	host := platform.Host()
	foreign := platformsOf(t, "linux/s390x")[0]
	buildx := Engine{Name: "buildx", Platforms: []platform.Platform{host}}
	buildah := Engine{Name: "buildah", Missing: "not on PATH"}
	any := Engine{Name: "buildah"}
	for _, c := range []struct {
		name, engine string
		engines      []Engine
		sources      string
		p            platform.Platform
		want, why    string
	}{
		{"no RUN", "auto", nil, "x", foreign, "native", "no RUN"},
		{"no RUN, asked for native", "native", nil, "x", host, "native", "no RUN"},
		{"no RUN, asked for another", "buildx", []Engine{buildx}, "x", host, "buildx", "IMAGE_ENGINE=buildx"},
		{"RUN, nothing there", "auto", nil, "RUN", host, "", "RUN at cmd/i/Dockerfile:7; no engine"},
		{"RUN, native", "native", []Engine{buildx}, "RUN", host, "", "RUN at cmd/i/Dockerfile:7, and IMAGE_ENGINE is native"},
		{"RUN, the first", "auto", []Engine{buildx, any}, "RUN", host, "buildx", "RUN at cmd/i/Dockerfile:7"},
		{"RUN, the first cannot run it", "auto", []Engine{buildx, any}, "RUN", foreign, "buildah", "RUN at cmd/i/Dockerfile:7"},
		{"RUN, none can", "auto", []Engine{buildx, buildah}, "RUN", foreign, "", "RUN at cmd/i/Dockerfile:7; buildx: cannot run linux/s390x here; buildah: not on PATH"},
		{"RUN, the other was asked for", "buildah", []Engine{buildx, buildah}, "RUN", host, "", "RUN at cmd/i/Dockerfile:7; buildah: not on PATH"},
	} {
		f := facts(t, c.p.String(), map[string]string{"i": c.sources})
		f.Engine, f.Engines = c.engine, c.engines
		p := plan(t, f)
		if l := p.Legs[0]; l.Engine != c.want || l.Why != c.why || l.Tag != "v1-"+c.p.Suffix() || l.Platform != c.p {
			t.Errorf("%s: %+v, want %s: %s", c.name, l, c.want, c.why)
		}
		if f.Optional = true; len(plan(t, f).LeftOut) != 0 != (c.want == "" && c.p == foreign) {
			t.Errorf("%s: left out %v", c.name, plan(t, f).LeftOut)
		}
	}
}

// What nothing here can build needs no binaries either.
func TestALegThatIsLeftOutNeedsNoBinary(t *testing.T) {
	host, foreign := platform.Host(), "linux/s390x"
	f := facts(t, host.String()+","+foreign, map[string]string{"i": "bin/a-linux-{arch} RUN"}, "a")
	f.Optional, f.Engines = true, []Engine{{Name: "buildx", Platforms: []platform.Platform{host}}}
	p := plan(t, f)
	if len(p.Legs) != 1 || len(p.LeftOut) != 1 || p.LeftOut[0].Platform.String() != foreign || len(p.Binaries) != 1 || p.Binaries[0].Platform != host {
		t.Errorf("%+v", p)
	}
}

func TestVersionsAndTagsAreChecked(t *testing.T) {
	f := facts(t, "linux/amd64,linux/arm64", map[string]string{"x": "config", "y": "config"})
	f.Version = "v1-arm64"
	if _, err := New(f); err == nil || strings.Count(err.Error(), "\n") != 0 || !strings.HasPrefix(err.Error(), "VERSION v1-arm64: ") {
		t.Errorf("%v", err)
	}
	f.Version = strings.Repeat("v", 125)
	_, err := New(f)
	if err == nil || strings.Count(err.Error(), "is no legal tag") != 4 {
		t.Errorf("%v", err)
	}
}

func TestNewLeavesItsFactsAlone(t *testing.T) {
	f := facts(t, "linux/amd64,linux/arm/v7", map[string]string{"a": ". RUN", "b": "bin/b-linux-{arch}"}, "a", "b")
	before, _ := json.Marshal([]any{f.Commands, f.Images, f.Recipes})
	first, second := plan(t, f), plan(t, f)
	after, _ := json.Marshal([]any{f.Commands, f.Images, f.Recipes})
	if !bytes.Equal(before, after) {
		t.Errorf("%s\n%s", before, after)
	}
	if !reflect.DeepEqual(first, second) {
		t.Error("the same facts gave another plan")
	}
}

// The JSON form is what others read: fields are only ever added to the golden
// file, which UPDATE=1 writes.
func TestJSONBothWays(t *testing.T) {
	f := facts(t, "linux/amd64,linux/arm/v7", map[string]string{"a": ". RUN", "b": "bin/b-linux-{arch}"}, "a", "b")
	f.Skipped = []Skipped{{Dir: "cmd/lib", Reason: "package lib"}}
	f.Images[1].Target, f.Images[1].Context, f.Images[1].BuildArgs = "debug", ".", map[string]string{"K": "V"}
	f.Images[1].Tags, f.Images[1].Labels, f.Images[1].Timeout = []string{"edge"}, map[string]string{"l": "<v>"}, 1
	p := plan(t, f)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/plan.json"
	if os.Getenv("UPDATE") != "" {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, out.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	var back Plan
	if err := json.Unmarshal(want, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&back, p) {
		t.Errorf("read back:\n%+v\nwant\n%+v", back, *p)
	}
}

// Whoever reads the JSON iterates over the lists, the empty ones too.
func TestEmptyListsAreLists(t *testing.T) {
	for _, f := range []Facts{{}, facts(t, "linux/amd64", map[string]string{"x": "config"})} {
		out, err := json.Marshal(plan(t, f))
		if err != nil || bytes.Contains(out, []byte("null")) {
			t.Errorf("%s, %v", out, err)
		}
	}
}

func TestTakes(t *testing.T) {
	const file = "bin/app-linux-amd64"
	for source, want := range map[string]bool{
		file: true, "bin": true, "bin/*": true, "bin/app-*": true, "b*": true, "*/app-linux-amd64": true, "bin/app-linux-[ab]md64": true,
		".": false, "": false, "/": false, "bin/app": false, "app-linux-amd64": false, "bin/app-linux-amd64/x": false,
		"bin/*-arm64": false, "bi": false, "*/*/*": false, "bin/[": false,
	} {
		if Takes(source, file) != want {
			t.Errorf("COPY %q takes %s: %v", source, file, !want)
		}
	}
}

func TestNamesOfABinary(t *testing.T) {
	for _, c := range []struct{ planned, p, form, want string }{
		{"linux/amd64", "linux/amd64", binForm, "bin/app-linux-amd64"},
		{"linux/amd64/v3", "linux/amd64/v3", binForm, "bin/app-linux-amd64v3 bin/app-linux-amd64"},
		{"linux/amd64,linux/amd64/v3", "linux/amd64", binForm, "bin/app-linux-amd64"},
		{"linux/amd64,linux/amd64/v3", "linux/amd64/v3", binForm, "bin/app-linux-amd64v3"},
		{"linux/arm", "linux/arm/v7", "bin/{arch}/{name}", "bin/arm/app"}, // the form has no variant: one name
		{"linux/arm64,linux/arm", "linux/arm/v7", "{variant}/{arch}/{name}", "v7/arm/app /arm/app"},
	} {
		f := Facts{Platforms: platformsOf(t, c.planned), Bin: c.form}
		b := f.Binary(Command{Name: "app", ImportPath: "m/cmd/app", Module: "."}, platformsOf(t, c.p)[0])
		if got := strings.Join(append([]string{b.Path}, b.Also...), " "); got != c.want || b.Package != "m/cmd/app" {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
