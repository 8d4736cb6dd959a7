package config

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// values are, for every variable, one that is taken and what it gives, and one
// that is refused with the words that say why. A variable that takes any text
// has nothing to refuse.
var values = map[string]struct {
	good  string
	gives func(*Settings) any
	want  any
	bad   string
	says  string
}{
	"IMAGE_PLATFORMS":   {"linux/arm,linux/amd64", func(s *Settings) any { return platforms(s.Platforms) }, "linux/arm/v7 linux/amd64", "linux/armv7", `unknown architecture "armv7" | write linux/arm/v7`},
	"WHAT":              {"a, cmd/b a", func(s *Settings) any { return strings.Join(s.What, "|") }, "a|cmd/b", "", ""},
	"IMAGE_DIRS":        {"cmd/a\tb", func(s *Settings) any { return strings.Join(s.Dirs, "|") }, "cmd/a|b", "", ""},
	"IMAGE_BIN":         {"out/./{arch}/{name}", func(s *Settings) any { return s.Bin }, "out/{arch}/{name}", "bin/{name}", "must hold {name} and {arch}"},
	"RELEASE_PLATFORMS": {"darwin/arm64,windows/amd64", func(s *Settings) any { return platforms(s.Release) }, "darwin/arm64 windows/amd64", "darwin/s390x", "does not build for darwin/s390x"},
	"LDFLAGS":           {"-X 'main.a=b c'", func(s *Settings) any { return s.LDFlags }, "-X 'main.a=b c'", "", ""},
	"GOFLAGS":           {"-mod=mod -tags=x", func(s *Settings) any { return s.GoFlags }, "-mod=mod -tags=x", "", ""},
	"CGO_ENABLED":       {"1", func(s *Settings) any { return s.CGO }, true, "on", `"on" is neither true nor false`},
	"VERSION_PKG":       {"example.com/x/version", func(s *Settings) any { return s.VersionPkg }, "example.com/x/version", "", ""},
	"BINARY_VERSION":    {"1.0+x", func(s *Settings) any { return s.BinaryVersion }, "1.0+x", "", ""},
	"IMAGE_ENGINE":      {"native", func(s *Settings) any { return s.Engine }, "native", "kaniko", `unknown value "kaniko"`},
	"IMAGE_BUILD_ARGS":  {`A=1,B="x, y" C=a=b`, func(s *Settings) any { return pairsOf(s.BuildArgs) }, "A=1|B=x, y|C=a=b", "TARGETARCH=amd64", "TARGETARCH is set by the platform"},
	"IMAGE_TARGET":      {"debug", func(s *Settings) any { return s.Target }, "debug", "", ""},
	"IMAGE_LABELS":      {"a=b", func(s *Settings) any { return pairsOf(s.Labels.Values) }, "a=b", "nonsense", `"nonsense" is not KEY=value`},
	"IMAGE_ANNOTATIONS": {"none", func(s *Settings) any { return s.Annotations.Auto }, false, "a=1 =b", `"=b" is not [LEVEL:]KEY=value`},
	"IMAGE_SBOM":        {"no", func(s *Settings) any { return s.SBOM }, false, "off", `"off" is neither true nor false`},
	"IMAGE_VERIFY":      {"No", func(s *Settings) any { return s.Verify }, false, "off", `"off" is neither true nor false`},
	"IMAGE_OUT":         {"build/out/", func(s *Settings) any { return s.Out }, "build/out", ".", "it cannot be the repository itself"},
	"IMAGE_MEDIA_TYPES": {"docker", func(s *Settings) any { return s.MediaTypes }, "docker", "OCI", `unknown value "OCI"`},
	"IMAGE_COMPRESSION": {"zstd", func(s *Settings) any { return s.Compression }, "zstd", "xz", `unknown value "xz"`},
	"IMAGE_MIRRORS":     {"gcr.io=localhost:5000/gcr/,docker.io=x", func(s *Settings) any { return mirrorsOf(s) }, "docker.io→x|gcr.io→localhost:5000/gcr", "gcr.io=", `mirror of "gcr.io" is empty`},
	"LOAD":              {"Auto", func(s *Settings) any { return s.Load }, "auto", "maybe", "neither true, false nor auto"},
	"CONTAINER_TOOL":    {"podman", func(s *Settings) any { return s.ContainerTool }, "podman", "", ""},
	"BUILDX_BUILDER":    {"kube", func(s *Settings) any { return s.Builder }, "kube", "", ""},
	"IMAGE_CACHE":       {"none", func(s *Settings) any { return s.Cache }, "none", "type=s3", `unknown value "type=s3"`},
	"SOURCE_DATE_EPOCH": {"1700000000", func(s *Settings) any { return s.Epoch.Format(time.RFC3339) }, "2023-11-14T22:13:20Z", "-1", `"-1" is not a Unix time`},
	"REGISTRY":          {"localhost:5000/a/b/", func(s *Settings) any { return s.Registry }, "localhost:5000/a/b", "ghcr.io/Org", "write ghcr.io/org"},
	"VERSION":           {"v1.0_x-y", func(s *Settings) any { return s.Version }, "v1.0_x-y", "v1+x", "write v1-x"},
	"SOURCE_VERSION":    {"sha-1", func(s *Settings) any { return s.SourceVersion }, "sha-1", "a/b", "write a-b"},
	"IMAGE_TAGS":        {"latest,v1 latest", func(s *Settings) any { return strings.Join(s.Tags, "|") }, "latest|v1", "v1,.x", `".x" is no legal tag`},
	"IMAGE_LEG":         {"{os}_{arch}{variant}.{version}", func(s *Settings) any { return s.Leg }, "{os}_{arch}{variant}.{version}", "{version}/{arch}", "not legal"},
	"PUSH":              {"YES", func(s *Settings) any { return s.Push }, true, "maybe", `"maybe" is neither true nor false`},
	"IMAGE_REVISION":    {"abc", func(s *Settings) any { return s.Revision }, "abc", "", ""},
	"IMAGE_FORCE":       {"1", func(s *Settings) any { return s.Force }, true, "2", `"2" is neither true nor false`},
	"IMAGE_RETRY_MAX":   {"0", func(s *Settings) any { return s.RetryMax }, 0, "-1", `"-1" is not a whole number from 0 to 100`},
	"IMAGE_RETRY_DELAY": {"20ms", func(s *Settings) any { return s.RetryDelay }, 20 * time.Millisecond, "5", `"5" is not a duration from 0 to 1h`},
	"IMAGE_RUNNERS":     {"default=a linux/arm=b", func(s *Settings) any { return runnersOf(s, "linux/amd64", "linux/arm/v6") }, "a b", "arm64=a,linux/arm64=b", "another entry for that platform"},
	"IMAGE_JOBS":        {"3", func(s *Settings) any { return s.Jobs }, 3, "1e3", `"1e3" is not a whole number`},
	"IMAGE_PROGRESS":    {"json", func(s *Settings) any { return s.Progress }, "json", "fancy", `unknown value "fancy"`},
	"IMAGE_QUIET":       {"yes", func(s *Settings) any { return s.Quiet }, true, "very", `"very" is neither true nor false`},
}

func pairsOf(m map[string]string) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, k+"="+m[k])
	}
	return strings.Join(list, "|")
}

func mirrorsOf(s *Settings) string {
	var list []string
	for _, m := range s.Mirrors {
		list = append(list, m.Prefix+"→"+m.To)
	}
	return strings.Join(list, "|")
}

func TestEveryVariableTakesGoodAndRefusesBadValues(t *testing.T) {
	for _, v := range Variables() {
		row, ok := values[v.Name]
		if !ok {
			t.Errorf("%s has no row here", v.Name)
			continue
		}
		env := []string{v.Name + "=" + row.good}
		if v.Name == "PUSH" {
			env = append(env, "REGISTRY=ghcr.io/x")
		}
		s, err := load(t, "", nil, env...)
		if err != nil {
			t.Errorf("%s=%s: %v", v.Name, row.good, err)
		} else if got := row.gives(s); got != row.want {
			t.Errorf("%s=%s: %v, want %v", v.Name, row.good, got, row.want)
		} else if s.From[v.Name] != v.Name+" in the environment" {
			t.Errorf("%s comes from %q", v.Name, s.From[v.Name])
		}
		if row.bad == "" {
			continue
		}
		for where, load := range map[string]func() (*Settings, error){
			v.Name + " in the environment": func() (*Settings, error) { return load(t, "", nil, v.Name+"="+row.bad) },
			"--" + v.Flag():                func() (*Settings, error) { return load(t, "", map[string]string{v.Name: row.bad}) },
		} {
			_, err := load()
			if got := texts(t, err); len(got) != 1 || !strings.HasPrefix(got[0], where+": ") || !strings.Contains(got[0], row.says) {
				t.Errorf("%s with %q: %q, want %q", where, row.bad, got, row.says)
			}
		}
	}
}

func TestTheFileTakesWhatTheEnvironmentTakes(t *testing.T) {
	for _, v := range Variables() {
		row := values[v.Name]
		if v.Name == "PUSH" {
			continue
		}
		quote := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(row.good) + `"`
		s, err := load(t, v.Flag()+": "+quote+"\n", nil)
		if v.noFile {
			if got := texts(t, err); len(got) != 1 || got[0] != "archmage.yaml:1:1: "+v.Flag()+" is never read from a file | use the flag or the environment" {
				t.Errorf("%s: %q", v.Name, got)
			}
			continue
		}
		if err != nil || row.gives(s) != row.want {
			t.Errorf("%s: %s: %v", v.Flag(), quote, err)
		}
	}
}

func TestFlagsAreTheNamesInLowerCase(t *testing.T) {
	for name, flag := range map[string]string{"IMAGE_TAGS": "tags", "PUSH": "push", "SOURCE_DATE_EPOCH": "source-date-epoch", "IMAGE_RETRY_MAX": "retry-max"} {
		v, ok := Lookup(name)
		if !ok || v.Flag() != flag {
			t.Errorf("%s: %q", name, v.Flag())
		}
	}
	if _, ok := Lookup("NONE"); ok {
		t.Error("NONE is a variable")
	}
	list := Variables()
	list[0].Name = "changed"
	if Variables()[0].Name == "changed" {
		t.Error("the table can be changed from outside")
	}
}

func TestWordsInQuotes(t *testing.T) {
	for text, want := range map[string]string{
		`a b,c`: "a|b|c", ` a,, b `: "a|b", `"a b",c`: "a b|c", `x='a "b", c'`: `x=a "b", c`, `a"b c"d`: "ab cd", `""`: "", ``: "<none>",
	} {
		words, err := splitQuoted(text)
		got := strings.Join(words, "|")
		if words == nil {
			got = "<none>"
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if _, err := splitQuoted(`a "b`); err == nil {
		t.Error("an open quote is taken")
	}
}

// No text makes a setting that later steps cannot rely on.
func FuzzValues(f *testing.F) {
	for name, row := range values {
		f.Add(name, row.good)
		f.Add(name, row.bad)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		v, ok := Lookup(name)
		if !ok {
			return
		}
		s := defaults(t.TempDir())
		if v.parse(s, value) != nil {
			return
		}
		if len(s.Platforms) == 0 || s.Out == "" || s.Out == "." || strings.HasPrefix(s.Out, "..") || strings.HasPrefix(s.Out, "/") || s.Jobs < 1 || s.RetryDelay < 0 {
			t.Errorf("%s=%q gives %+v", name, value, s)
		}
		for _, tag := range append(s.Tags, s.Version, s.SourceVersion) {
			if tag != "" && strings.ContainsAny(tag, "/:@ +\n") {
				t.Errorf("%s=%q gives the tag %q", name, value, tag)
			}
		}
	})
}

// What is offered is what is taken, and where nothing else is taken, all of it.
func TestValuesAreTaken(t *testing.T) {
	for _, v := range Variables() {
		for _, value := range v.Values {
			if err := v.parse(defaults("/"), value); err != nil {
				t.Errorf("%s is offered %q: %v", v.Name, value, err)
			}
		}
		if only := choices[v.Name]; only != nil && !slices.Equal(slices.Sorted(slices.Values(v.Values)), slices.Sorted(slices.Values(only))) {
			t.Errorf("%s is offered %v, and takes %v", v.Name, v.Values, only)
		}
		if v.Bool && !slices.Contains(v.Values, "false") {
			t.Errorf("%s is offered %v", v.Name, v.Values)
		}
	}
}
