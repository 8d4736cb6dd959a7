package plan

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/dockerfile"
)

const six = "linux/386,linux/amd64,linux/arm/v6,linux/arm/v7,linux/arm64,linux/ppc64le"

func indexed(img Image) []string { return []string{"ghcr.io/org/" + img.Name + ":v1", ":latest"} }

// drawn is a graph in both forms.
func drawn(t *testing.T, f Facts) (text, mermaid string) {
	t.Helper()
	p := plan(t, f)
	g := p.Graph(f, indexed)
	var a, b bytes.Buffer
	if err := g.Text(&a); err != nil {
		t.Fatal(err)
	}
	if err := g.Mermaid(&b); err != nil {
		t.Fatal(err)
	}
	return a.String(), b.String()
}

// based puts a base below an image, on the platforms that on accepts.
func based(f Facts, image, ref string, on func(i int) bool) {
	for i, r := range f.Recipes[image] {
		if on(i) {
			r.FinalBase = &dockerfile.Base{Ref: ref}
			r.Ops = append(r.Ops, dockerfile.Op{Kind: dockerfile.KindBase, Base: r.FinalBase})
		}
	}
}

func always(int) bool { return true }

// eight images on six platforms, of every kind there is.
func eight(t *testing.T) Facts {
	f := facts(t, six, map[string]string{
		"agent": "bin/agent-linux-{arch}{variant}", "both": "bin/agent-linux-{arch}{variant} bin/cli-linux-{arch}{variant}",
		"data": "docs", "only": "bin/cli-linux-{arch}{variant}", "pinned": "bin/pinned-linux-{arch}{variant}",
		"some": "docs", "syncer": "RUN", "three": "bin/agent-linux-{arch}{variant} bin/cli-linux-{arch}{variant} bin/pinned-linux-{arch}{variant}",
	}, "agent", "cli", "pinned", "syncer", "unused")
	f.Engines = []Engine{{Name: "buildx", Platforms: f.Platforms}}
	based(f, "agent", "docker.io/library/alpine:3.20", always)
	based(f, "both", "docker.io/library/alpine:3.20", func(i int) bool { return i > 0 })
	based(f, "both", "docker.io/i386/alpine:3.20", func(i int) bool { return i == 0 })
	based(f, "pinned", "gcr.io/distroless/static:nonroot@sha256:"+strings.Repeat("0a", 32), always)
	i := slices.IndexFunc(f.Images, func(img Image) bool { return img.Name == "some" })
	f.Images[i].Platforms = f.Platforms[1:3]
	f.Recipes["some"] = f.Recipes["some"][1:3]
	return f
}

func TestGraphFoldsPlatforms(t *testing.T) {
	text, mermaid := drawn(t, eight(t))
	golden(t, "testdata/graph.txt", text)
	golden(t, "testdata/graph.mmd", mermaid)
	if n := strings.Count(text, "\n"); n > 30 {
		t.Errorf("eight images take %d lines", n)
	}
	for _, line := range strings.Split(text, "\n") {
		if n := len([]rune(line)); n > 140 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; UPDATE=1 writes it:\n%s", file, got)
	}
}

// A hundred images are ten times ten: nothing is drawn per platform, or per pair.
func TestGraphIsLinear(t *testing.T) {
	images, commands := map[string]string{}, []string{}
	for i := range 100 {
		name := fmt.Sprintf("app-%03d", i)
		images[name] = "bin/" + name + "-linux-{arch}{variant}"
		commands = append(commands, name)
	}
	f := facts(t, six, images, commands...)
	for name := range images {
		based(f, name, "docker.io/library/alpine:3.20", always)
	}
	text, mermaid := drawn(t, f)
	if n := strings.Count(text, "\n"); n != 2+2*100 {
		t.Errorf("text has %d lines", n)
	}
	if n := strings.Count(mermaid, "-->"); n != 4*100 { // Mermaid draws 500 unless told otherwise
		t.Errorf("%d edges", n)
	}
	again, too := drawn(t, f)
	if again != text || too != mermaid {
		t.Error("drawn twice, it differs")
	}
}

// A label is no syntax, whatever a Dockerfile calls its base.
func TestMermaidLabelsAreEscaped(t *testing.T) {
	f := facts(t, "linux/amd64", map[string]string{"app": "docs"})
	based(f, "app", "evil\"]; click x \"javascript:alert(1)\" <b>#quot;`_*\\&\nend", always)
	_, mermaid := drawn(t, f)
	node := regexp.MustCompile(`^ {4}[a-z]+[0-9]+\["([^"<>&*\\` + "`" + `]|<br>)*"\]$`)
	for _, line := range strings.Split(strings.TrimRight(mermaid, "\n"), "\n") {
		if strings.HasPrefix(line, "    ") && !node.MatchString(line) {
			t.Errorf("%s", line)
		}
	}
	if want := "  bases1 --> images1\n"; !strings.Contains(mermaid, want) {
		t.Errorf("no %q in\n%s", want, mermaid)
	}
}

func TestNamesFold(t *testing.T) {
	for want, names := range map[string][]string{
		"":                                      nil,
		"bin/a-linux-amd64":                     {"bin/a-linux-amd64"},
		"bin/a-linux-{amd64,arm64}":             {"bin/a-linux-amd64", "bin/a-linux-arm64"},
		"bin/{amd64,arm64}/a":                   {"bin/amd64/a", "bin/arm64/a"},
		"a-{linux,windows}-amd64":               {"a-linux-amd64", "a-windows-amd64"},
		"bin/a-linux-* (4)":                     {"bin/a-linux-386", "bin/a-linux-amd64", "bin/a-linux-arm64", "bin/a-linux-armv7"},
		"{x,y}":                                 {"x", "y"},
		"a-b-a a-a":                             {"a-b-a", "a-a"},
		"out/a/{linux,windows}-amd64/bin/a.exe": {"out/a/linux-amd64/bin/a.exe", "out/a/windows-amd64/bin/a.exe"},
	} {
		if got := fold(names); got != want {
			t.Errorf("%q folds to %q, want %q", names, got, want)
		}
	}
}
