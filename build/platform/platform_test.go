package platform

import (
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/run"
)

func TestParseNormalises(t *testing.T) {
	for _, c := range []struct{ text, want, suffix string }{
		{"linux/amd64", "linux/amd64", "amd64"},
		{"linux/x86_64", "linux/amd64", "amd64"},
		{"linux/x86-64", "linux/amd64", "amd64"},
		{"linux/amd64/v1", "linux/amd64", "amd64"},
		{"linux/amd64/2", "linux/amd64/v2", "amd64v2"},
		{"linux/AMD64/V3", "linux/amd64/v3", "amd64v3"},
		{"linux/arm64", "linux/arm64", "arm64"},
		{"linux/arm64/v8", "linux/arm64", "arm64"},
		{"linux/arm64/8", "linux/arm64", "arm64"},
		{"linux/arm64/v8.0", "linux/arm64", "arm64"},
		{"linux/arm64/v8.2", "linux/arm64/v8.2", "arm64v8.2"},
		{"linux/arm64/v9", "linux/arm64/v9", "arm64v9"},
		{"linux/arm64/v9.0", "linux/arm64/v9", "arm64v9"},
		{"linux/arm64/9.0", "linux/arm64/v9", "arm64v9"},
		{"linux/aarch64", "linux/arm64", "arm64"},
		{"arm64", "linux/arm64", "arm64"},
		{"linux/arm", "linux/arm/v7", "armv7"},
		{"arm", "linux/arm/v7", "armv7"},
		{"linux/arm/7", "linux/arm/v7", "armv7"},
		{"linux/arm/v6", "linux/arm/v6", "armv6"},
		{"linux/arm/5", "linux/arm/v5", "armv5"},
		{"linux/i386", "linux/386", "386"},
		{"linux/386/softfloat", "linux/386/softfloat", "386softfloat"},
		{"linux/mips64le/hardfloat", "linux/mips64le", "mips64le"},
		{"linux/s390x", "linux/s390x", "s390x"},
		{"linux/riscv64/rva20u64", "linux/riscv64", "riscv64"},
		{"windows/arm64", "windows/arm64", "arm64"},
		{"darwin/arm64", "darwin/arm64", "arm64"},
	} {
		p, err := Parse(c.text)
		if err != nil || p.String() != c.want || p.Suffix() != c.suffix {
			t.Errorf("Parse(%q) = %s (suffix %s), %v; want %s (suffix %s)", c.text, p, p.Suffix(), err, c.want, c.suffix)
		}
		if again, err := Parse(p.String()); err != nil || again != p {
			t.Errorf("Parse(%q) = %v, %v, not itself", p, again, err)
		}
	}
}

func TestParseRefusesWithAHint(t *testing.T) {
	for _, c := range []struct{ text, cause, hint string }{
		{"linux/armv7", `unknown architecture "armv7"`, "write linux/arm/v7"},
		{"linux/armhf", `unknown architecture "armhf"`, "write linux/arm/v7"},
		{"linux/arm64v8", `unknown architecture "arm64v8"`, "write linux/arm64"},
		{"linux/x86", `unknown architecture "x86"`, "write linux/386"},
		{"amd65", `unknown architecture "amd65"`, "known architectures: 386, amd64, arm, arm64, loong64"},
		{"linux/arm/v8", `unknown variant "v8" of arm`, "known variants: v5, v6, v7"},
		{"linux/amd64/v5", `unknown variant "v5" of amd64`, "known variants: v1, v2, v3, v4"},
		{"linux/s390x/v1", `unknown variant "v1" of s390x`, "this architecture has no variants"},
		{"windows/arm", "the Go toolchain does not build for windows/arm", ""},
		{"plan10/amd64", "the Go toolchain does not build for plan10/amd64", ""},
		{"", "not of the form", "write os/arch"},
		{"linux/", "not of the form", "write os/arch"},
		{"linux/arm/v7/x", "not of the form", "write os/arch"},
	} {
		p, err := Parse(c.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Parse(%q) = %v, %v; want an Error", c.text, p, err)
			continue
		}
		if !strings.Contains(e.Error(), c.cause) || !strings.HasPrefix(e.Hint(), c.hint) || c.hint == "" && e.Hint() != "" {
			t.Errorf("Parse(%q): %q, hint %q; want %q, hint %q", c.text, e, e.Hint(), c.cause, c.hint)
		}
	}
}

func TestParseListKeepsOrderAndDropsDuplicates(t *testing.T) {
	got, dup, err := ParseList(" linux/arm64,linux/arm\tlinux/amd64\nlinux/arm64/v8, linux/arm/7")
	want := []Platform{{"linux", "arm64", ""}, {"linux", "arm", "v7"}, {"linux", "amd64", ""}}
	if err != nil || !slices.Equal(got, want) || !slices.Equal(dup, []string{"linux/arm64/v8", "linux/arm/7"}) {
		t.Errorf("got %v, %q, %v", got, dup, err)
	}
	if got, _, err := ParseList(" , "); len(got) != 0 || err != nil {
		t.Errorf("empty list: %v, %v", got, err)
	}
	if _, _, err := ParseList("linux/amd64,linux/armv7"); err == nil {
		t.Error("a wrong entry passed")
	}
}

func TestJSONIsTheText(t *testing.T) {
	data, err := json.Marshal([]Platform{{"linux", "arm", "v7"}, {}})
	if err != nil || string(data) != `["linux/arm/v7",""]` {
		t.Fatalf("%s, %v", data, err)
	}
	var got []Platform
	if err := json.Unmarshal([]byte(`["linux/arm64/v8",""]`), &got); err != nil || got[0] != (Platform{"linux", "arm64", ""}) || got[1] != (Platform{}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`["linux/armv7"]`), &got); err == nil {
		t.Error("a wrong platform was read")
	}
}

func TestGoEnvSetsTheVariantAlways(t *testing.T) {
	for text, want := range map[string][]string{
		"linux/amd64":              {"GOOS=linux", "GOARCH=amd64", "GOAMD64=v1"},
		"linux/amd64/v3":           {"GOOS=linux", "GOARCH=amd64", "GOAMD64=v3"},
		"linux/arm":                {"GOOS=linux", "GOARCH=arm", "GOARM=7"},
		"linux/arm/v5":             {"GOOS=linux", "GOARCH=arm", "GOARM=5"},
		"linux/arm64":              {"GOOS=linux", "GOARCH=arm64", "GOARM64=v8.0"},
		"linux/arm64/v9":           {"GOOS=linux", "GOARCH=arm64", "GOARM64=v9.0"},
		"linux/386":                {"GOOS=linux", "GOARCH=386", "GO386=sse2"},
		"linux/mipsle":             {"GOOS=linux", "GOARCH=mipsle", "GOMIPS=hardfloat"},
		"linux/mips64/softfloat":   {"GOOS=linux", "GOARCH=mips64", "GOMIPS64=softfloat"},
		"linux/ppc64le/power9":     {"GOOS=linux", "GOARCH=ppc64le", "GOPPC64=power9"},
		"linux/riscv64":            {"GOOS=linux", "GOARCH=riscv64", "GORISCV64=rva20u64"},
		"linux/s390x":              {"GOOS=linux", "GOARCH=s390x"},
		"windows/amd64":            {"GOOS=windows", "GOARCH=amd64", "GOAMD64=v1"},
		"linux/riscv64/rva22u64":   {"GOOS=linux", "GOARCH=riscv64", "GORISCV64=rva22u64"},
		"linux/loong64":            {"GOOS=linux", "GOARCH=loong64"},
		"linux/mips64le/softfloat": {"GOOS=linux", "GOARCH=mips64le", "GOMIPS64=softfloat"},
	} {
		p, err := Parse(text)
		if err != nil || !slices.Equal(p.GoEnv(), want) {
			t.Errorf("%s: %v, %v; want %v", text, p.GoEnv(), err, want)
		}
	}
}

func TestRunsListsWhatTheMachineCanExecute(t *testing.T) {
	for text, want := range map[string]string{
		"linux/arm/v5":          "5",
		"linux/arm/v7":          "5 6 7",
		"linux/amd64":           "v1",
		"linux/amd64/v3":        "v1 v2 v3",
		"linux/arm64":           "v8.0",
		"linux/arm64/v8.2":      "v8.0 v8.1 v8.2",
		"linux/arm64/v9":        "v8.0 v8.1 v8.2 v8.3 v8.4 v8.5 v9.0",
		"linux/arm64/v9.2":      "v8.0 v8.1 v8.2 v8.3 v8.4 v8.5 v8.6 v8.7 v9.0 v9.1 v9.2",
		"linux/386":             "softfloat sse2",
		"linux/386/softfloat":   "softfloat",
		"linux/mips":            "softfloat hardfloat",
		"linux/s390x":           "",
		"linux/ppc64le/power10": "power8 power9 power10",
	} {
		p, err := Parse(text)
		if got := strings.Join(p.Runs(), " "); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestNamedReadsWordsOfPaths(t *testing.T) {
	for word, want := range map[string]Platform{
		"amd64": {"linux", "amd64", ""}, "x86_64": {"linux", "amd64", ""}, "aarch64": {"linux", "arm64", ""},
		"arm": {"linux", "arm", ""}, "armv7": {"linux", "arm", "v7"}, "armv6": {"linux", "arm", "v6"}, "amd64v3": {"linux", "amd64", "v3"},
	} {
		if p, ok := Named(word); !ok || p != want {
			t.Errorf("Named(%q) = %v, %v; want %v", word, p, ok, want)
		}
	}
	for _, word := range []string{"", "app", "linux", "army"} {
		if p, ok := Named(word); ok {
			t.Errorf("Named(%q) = %v", word, p)
		}
	}
	for _, word := range Names() {
		if _, ok := Named(word); !ok {
			t.Errorf("Names has %q, which Named does not know", word)
		}
	}
}

func TestImagesListsEachPlatformOnce(t *testing.T) {
	all := Images()
	seen := map[Platform]bool{}
	for _, p := range all {
		if q, err := Parse(p.String()); err != nil || q != p || seen[p] || p.OS != "linux" {
			t.Errorf("%v: %v, %v, seen before %v", p, q, err, seen[p])
		}
		seen[p] = true
	}
	for _, text := range []string{"linux/amd64", "linux/amd64/v3", "linux/arm/v5", "linux/arm/v7", "linux/arm64", "linux/arm64/v9", "linux/s390x", "linux/386/softfloat"} {
		if p, _ := Parse(text); !seen[p] {
			t.Errorf("%s is missing", text)
		}
	}
	if !slices.IsSortedFunc(all, Compare) {
		t.Error("not sorted")
	}
}

func TestExpandAndMatch(t *testing.T) {
	p := Platform{"linux", "arm", "v6"}
	if got := p.Expand("bin/{name}-{os}-{arch}{variant}", "app"); got != "bin/app-linux-armv6" {
		t.Error(got)
	}
	if !p.Match(nil) || !p.Match([]Platform{p}) || p.Match([]Platform{{"linux", "arm", "v7"}}) {
		t.Error("Match is wrong")
	}
	if h := Host(); h.OS != "linux" || h.Arch != runtime.GOARCH {
		t.Error(h)
	}
}

// The toolchain says which systems it builds for and which values a variant's
// variable takes; the table must say the same.
func TestTableAgreesWithTheToolchain(t *testing.T) {
	ask := func(args ...string) string {
		out, err := run.Output(t.Context(), run.OS{}, run.Cmd{Name: "go", Args: args})
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	builds := strings.Fields(ask("tool", "dist", "list"))
	for name, a := range arches {
		for _, os := range a.oses {
			if !slices.Contains(builds, os+"/"+name) {
				t.Errorf("the table has %s/%s, which the toolchain has not", os, name)
			}
		}
	}
	for _, b := range builds {
		os, name, _ := strings.Cut(b, "/")
		if _, known := arches[name]; os == "linux" && !known {
			t.Errorf("the table lacks %s", b)
		}
	}
	help := ask("help", "environment")
	for name, a := range arches {
		if a.goVar == "" {
			continue
		}
		_, text, found := strings.Cut(help, "\n\t"+a.goVar+"\n")
		text, _, _ = strings.Cut(text, "\n\tGO")
		if !found {
			t.Errorf("%s: the toolchain has no %s", name, a.goVar)
		}
		for _, v := range a.values {
			if !strings.Contains(text, documented(v.value)) {
				t.Errorf("%s: %s does not take %s", name, a.goVar, v.value)
			}
		}
	}
}

// documented is how the toolchain's text lists a value: those of Arm's minor
// versions as ranges, v8.{1-9} and v9.{0-5}.
func documented(value string) string {
	if major, minor, ok := strings.Cut(value, "."); ok && value != "v8.0" {
		if major == "v8" && minor <= "9" {
			return "v8.{1-9}"
		}
		if major == "v9" && minor <= "5" {
			return "v9.{0-5}"
		}
	}
	return value
}

func FuzzParseIsStable(f *testing.F) {
	for _, s := range []string{"linux/arm64/v8", "arm", "linux/arm/7", "a/b/c/d", "linux/amd64/vv2", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if q, err := Parse(p.String()); err != nil || q != p {
			t.Errorf("Parse(%q) = %v, which reads as %v, %v", text, p, q, err)
		}
		if len(p.GoEnv()) < 2 || p.ELF().Machine == 0 {
			t.Errorf("%q: %v has no environment or no machine", text, p)
		}
	})
}
