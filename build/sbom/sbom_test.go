package sbom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/archmage-go/archmage/build/audit"
	"github.com/archmage-go/archmage/build/platform"
)

const (
	one = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	two = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

// example has one of everything.
func example() Image {
	build := &debug.BuildInfo{
		GoVersion: "go1.26.8", Path: "example.com/shop/cmd/server",
		Main: debug.Module{Path: "example.com/shop", Version: "v1.2.3+dirty"},
		Deps: []*debug.Module{
			{Path: "example.com/asis", Version: "v0.1.0", Sum: "h1:x"},
			{Path: "example.com/fork", Version: "v0.2.0", Replace: &debug.Module{Path: "github.com/Me/Fork/v2", Version: "v2.0.1"}},
			{Path: "example.com/local", Version: "v0.3.0", Replace: &debug.Module{Path: "/home/me/secret", Version: "(devel)"}},
			{Path: "example.com/near", Version: "v0.4.0", Replace: &debug.Module{Path: "../near"}},
		},
		Settings: []debug.BuildSetting{{Key: "-ldflags", Value: "-X main.token=/home/me/hidden"}},
	}
	other := &debug.BuildInfo{
		GoVersion: "go1.26.8 X:nodwarf5", Path: "command-line-arguments",
		Deps: []*debug.Module{{Path: "example.com/asis", Version: "v0.1.0"}},
	}
	return Image{
		Name: "server", Repository: "ghcr.io/Org/server", Digest: one,
		Platform: platform.Platform{OS: "linux", Arch: "arm", Variant: "v7"},
		Created:  time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600)),
		Base:     Base{Ref: "docker.io/library/debian:12", Digest: two},
		Contents: audit.Contents{
			Programs: []audit.File{
				{Path: "/bin/busybox", SHA256: strings.Repeat("b", 64), Format: audit.ELF, Links: 2},
				{Path: "/bin/huge", Problem: "too large to be looked at", Format: audit.Unknown},
				{Path: "/tool", SHA256: strings.Repeat("c", 64), Format: audit.ELF, Go: other},
				{Path: "/usr/bin/server", SHA256: strings.Repeat("a", 64), Format: audit.ELF, Go: build},
			},
			Texts: []audit.File{
				{Path: "/etc/os-release", Text: []byte("NAME=\"Debian\"\nID=debian\nVERSION_ID=\"12\"\n")},
				{Path: "/var/lib/dpkg/status", Text: []byte(dpkg)},
				{Path: "/lib/apk/db/installed", Text: []byte(apk)},
			},
		},
	}
}

const dpkg = `Package: libc6
Status: install ok installed
Architecture: arm64
Source: glibc (2.36)
Version: 2.36-9+deb12u10
Description: GNU C Library
 Version: of nothing
Conffiles:
 /etc/ld.so.conf.d/x.conf 1

Package: gone
Status: deinstall ok config-files
Version: 1

Package: base-files
Status: install ok installed
Version: 12.4
`

const apk = `C:Q1qKcZ+j23xssAXmgQhkOO8dHnbWw=
P:musl
V:1.2.5-r9
A:x86_64
o:musl
F:lib
R:ld-musl-x86_64.so.1

C:Q1qKcZ+j23xssAXmgQhkOO8dHnbWx=
P:ssl_client
V:1.37.0-r12
A:x86_64
o:busybox
`

func written(t *testing.T, img Image) []byte {
	t.Helper()
	data, err := Document(img)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestADocumentSaysAllThatIsKnown(t *testing.T) {
	const file = "testdata/example.spdx.json"
	data := written(t, example())
	var got bytes.Buffer
	if err := json.Indent(&got, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs:\n%s", file, got.Bytes())
	}
	for _, secret := range []string{"/home", "secret", "hidden", "../"} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("it tells of %s", secret)
		}
	}
}

func TestTheOrderOfWhatIsFoundDoesNotShow(t *testing.T) {
	want := written(t, example())
	turned := example()
	slices.Reverse(turned.Contents.Programs)
	slices.Reverse(turned.Contents.Texts)
	slices.Reverse(turned.Contents.Programs[0].Go.Deps)
	if got := written(t, turned); !bytes.Equal(got, want) {
		t.Errorf("%s", got)
	}
}

func TestWhatIsNotKnownIsSaid(t *testing.T) {
	img := example()
	img.Contents.Partial = true
	img.Contents.Texts[1] = audit.File{Path: "/var/lib/dpkg/status", Problem: "too large to be looked at"}
	text := string(written(t, img))
	for _, said := range []string{
		"A layer of the image could not be read: there may be more in it. Files that could not be read: 2.",
		"Not read (too large to be looked at): what it is made from is not known.",
		"ELF file without Go build info: what it is made from is not known. It has 2 more names in the image.",
	} {
		if !strings.Contains(text, said) {
			t.Errorf("it does not say %q", said)
		}
	}
}

func TestADocumentHasAnEnd(t *testing.T) {
	img := Image{Name: "x", Digest: one, Contents: audit.Contents{Texts: []audit.File{
		{Path: "/var/lib/dpkg/status", Text: bytes.Repeat([]byte("Package: a\n\n"), 10)},
	}}}
	written(t, img)
	var many bytes.Buffer
	for i := range most + 1 {
		fmt.Fprintf(&many, "Package: a\nVersion: %d\n\n", i)
	}
	img.Contents.Texts[0].Text = many.Bytes()
	if _, err := Document(img); err == nil || !strings.Contains(err.Error(), "more than 100000 packages") {
		t.Errorf("%v", err)
	}
}

func TestIdentifiersAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, parts := range [][]string{{"a-b"}, {"a/b"}, {"a", "b"}, {"a"}, {""}, {strings.Repeat("x", 200)}, {strings.Repeat("x", 201)}} {
		id := string(identify("Go", parts...))
		if seen[id] || len(id) > 130 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzG0123456789-.") != "" {
			t.Errorf("%q: %s", parts, id)
		}
		seen[id] = true
	}
}

func FuzzTexts(f *testing.F) {
	f.Add([]byte(dpkg))
	f.Add([]byte(apk))
	f.Add([]byte("ID=\nID"))
	f.Fuzz(func(t *testing.T, data []byte) {
		img := example()
		for i := range img.Contents.Texts {
			img.Contents.Texts[i].Text = data
		}
		if out, err := Document(img); err == nil && !json.Valid(out) {
			t.Errorf("%q", out)
		}
	})
}
