package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

// Letters whose lower case is longer or shorter, and bytes that are none, do not
// move what follows.
func TestNamesStandWhereTheyAre(t *testing.T) {
	for _, text := range []string{"\u0130-amd64", "\u212a-amd64", "\x8a\xff-AMD64"} {
		list := named(text)
		if len(list) != 1 || !strings.EqualFold(text[list[0].start:list[0].end], "amd64") {
			t.Errorf("%q: %+v", text, list)
		}
	}
}

func TestArchitecturesNamedInPaths(t *testing.T) {
	for path, want := range map[string][]string{
		"bin/app":                      nil,
		"bin/app-linux-amd64":          {"linux/amd64"},
		"bin/app-linux-x86_64":         {"linux/amd64"},
		"bin/app.x86-64":               {"linux/amd64"},
		"BIN/APP_ARM64":                {"linux/arm64"},
		"bin/app-aarch64":              {"linux/arm64"},
		"bin/app-armv7":                {"linux/arm/v7"},
		"bin/app-armhf":                {"linux/arm/v7"},
		"linux/arm/v6/app":             {"linux/arm/v6"},
		"app_linux_arm_6/app":          {"linux/arm/v6"},
		"bin/app-arm":                  {"linux/arm"},
		"bin/app-arm-1":                {"linux/arm"},
		"dist/app_linux_amd64_v1/app":  {"linux/amd64"},
		"dist/app_linux_amd64_v3/app":  {"linux/amd64/v3"},
		"bin/app-amd64-2":              {"linux/amd64"},
		"bin/qemu-arm-amd64":           {"linux/arm", "linux/amd64"},
		"bin/charm-alarm":              nil,
		"docs/amd64.md":                {"linux/amd64"},
		"bin/app-linux-386":            {"linux/386"},
		"bin/app-linux-mips64le":       {"linux/mips64le"},
		"bin/armor/v7":                 nil,
		"bin/app-linux-riscv64-static": {"linux/riscv64"},
	} {
		var got []string
		for _, w := range named(path) {
			got = append(got, w.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

func TestLowerVariantsRun(t *testing.T) {
	p := func(text string) platform.Platform {
		v, err := platform.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		path, on string
		want     bool
	}{
		{"app-armv6", "linux/arm/v7", true},
		{"app-armv7", "linux/arm/v6", false},
		{"app-arm", "linux/arm/v6", true},
		{"app-amd64", "linux/amd64/v3", true},
		{"app-amd64v3", "linux/amd64", false},
		{"app-arm64", "linux/arm/v7", false},
	} {
		if got := !foreign(named(c.path), p(c.on)); got != c.want {
			t.Errorf("%s on %s: %v", c.path, c.on, got)
		}
	}
}

func TestWhereACopyPutsAFile(t *testing.T) {
	for _, c := range []struct {
		copy dockerfile.Copy
		file string
		want []string
	}{
		{dockerfile.Copy{Src: "/bin/app", Dest: "/x"}, "/bin/app", []string{"/x", "/x/app"}},
		{dockerfile.Copy{Src: "/bin/app", Dest: "/x/"}, "/bin/app", []string{"/x/app"}},
		{dockerfile.Copy{Src: "/bin/app", Dest: "/x"}, "/bin/app2", nil},
		{dockerfile.Copy{Src: "/bin", Dest: "/x", DirContents: true}, "/bin/a/b", []string{"/x/a/b"}},
		{dockerfile.Copy{Src: "/bin", Dest: "/x"}, "/bin/a/b", []string{"/x/bin/a/b"}},
		{dockerfile.Copy{Src: "/", Dest: "/x/", DirContents: true}, "/bin/a", []string{"/x/bin/a"}},
		{dockerfile.Copy{Src: "/bin/*", Dest: "/x/", Wildcard: true, DirContents: true}, "/bin/a", []string{"/x/a"}},
		{dockerfile.Copy{Src: "/*/*", Dest: "/x/", Wildcard: true, DirContents: true}, "/a/b/c", []string{"/x/c"}},
		{dockerfile.Copy{Src: "/*", Dest: "/x/", Wildcard: true, DirContents: true}, "/a/b/c", []string{"/x/b/c"}},
		{dockerfile.Copy{Src: "/bin/*", Dest: "/x/"}, "/bin/a", nil},
		{dockerfile.Copy{Src: "/", Dest: "/x", Include: []string{"bin/*"}}, "/bin/a", []string{"/x/bin/a"}},
		{dockerfile.Copy{Src: "/bin", Dest: "/x", DirContents: true, Exclude: []string{"*.md"}}, "/bin/a.md", nil},
	} {
		if got := landing(&c.copy, c.file); !slices.Equal(got, c.want) {
			t.Errorf("%s of %+v: got %v, want %v", c.file, c.copy, got, c.want)
		}
	}
}

func TestFormsOfBinaries(t *testing.T) {
	for form, paths := range map[string]map[string]string{ // path → name and platform
		"bin/{name}-{os}-{arch}{variant}": {
			"bin/my-app-linux-armv7": "my-app linux/arm/v7", "bin/a-linux-amd64": "a linux/amd64", "bin/a-linux-x86_64": "a linux/amd64",
			"bin/a-linux-": "", "bin/a-linux": "", "bin/x/a-linux-amd64": "", "bin/a-linux-nosuch": "",
		},
		"out/{os}/{arch}/{variant}/{name}": {"out/linux/arm/v6/a": "a linux/arm/v6"},
		"{name}_{os}_{arch}/{name}":        {"a_linux_arm64/a": "a linux/arm64"},
		"b/{name}.{arch}{variant}":         {"b/a.mipssoftfloat": "a linux/mips/softfloat"},
	} {
		b := newBinaries(Subject{Bin: form, Planned: []platform.Platform{{OS: "linux", Arch: "mips", Variant: "softfloat"}}})
		for path, want := range paths {
			name, p, ok := b.parse(path)
			got := ""
			if ok {
				got = name + " " + p.String()
			}
			if got != want {
				t.Errorf("%s in %s: got %q, want %q", path, form, got, want)
			}
		}
	}
}

func TestWhatMayCompile(t *testing.T) {
	for command, want := range map[string]bool{
		"go build -o app .": true, "cd x && make": true, "./build": true, "sh scripts/x.sh": true, "cargo install --path .": true,
		"apk add --no-cache ca-certificates": false, "adduser -D app": false, "chmod +x /app/bin/app": false, "mkdir /gopher": false,
	} {
		if got := compiles(&dockerfile.Run{Args: []string{"/bin/sh", "-c", command}}); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}
