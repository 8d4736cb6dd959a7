package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/moby/buildkit/exporter/containerimage/exptypes"

	"github.com/archmage-go/archmage/build/platform"
)

// said is what annotations were read, one a line.
func said(a Annotations) string {
	var b strings.Builder
	for _, one := range a.List {
		b.WriteString(string(one.Level))
		if one.Platform != (platform.Platform{}) {
			b.WriteString("[" + one.Platform.String() + "]")
		}
		b.WriteString(":" + one.Key + "=" + one.Value + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestAnnotationsAsBuildxSpellsThem(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`a=b`, "manifest:a=b"},
		{`a=b=c d=`, "manifest:a=b=c\nmanifest:d="},
		{`com.example/a-b_c=x:y`, "manifest:com.example/a-b_c=x:y"},
		{`index:a=b`, "index:a=b"},
		{`index:urn:a=b`, "index:urn:a=b"},
		{`index,manifest:a=b,c=d`, "index:a=b\nmanifest:a=b\nmanifest:c=d"},
		{`"index,manifest:a=b c,d"`, "index:a=b c,d\nmanifest:a=b c,d"},
		{`manifest[linux/arm64/v8],manifest-descriptor[linux/arm]:a=b`, "manifest[linux/arm64]:a=b\nmanifest-descriptor[linux/arm/v7]:a=b"},
		{`none a=b`, "manifest:a=b"},
	} {
		var s Settings
		if err := parseAnnotations(&s, tt.text); err != nil || said(s.Annotations) != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.text, said(s.Annotations), err, tt.want)
		}
		if s.Annotations.Auto != !strings.HasPrefix(tt.text, "none") {
			t.Errorf("%s: auto is %v", tt.text, s.Annotations.Auto)
		}
	}
}

func TestAnnotationsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		`a`:                           `"a" is not [LEVEL:]KEY=value`,
		`index,manifest`:              `"index,manifest" is not [LEVEL:]KEY=value`,
		`=b`:                          `"=b" is not [LEVEL:]KEY=value`,
		`index:=b`:                    `"index:=b" is not [LEVEL:]KEY=value`,
		`"a b=c"`:                     `"a b=c" is not [LEVEL:]KEY=value`,
		`:a=b`:                        `"" is no level`,
		`Index:a=b`:                   `"Index" is no level`,
		`layer:a=b`:                   `unknown level of annotations "layer"`,
		`config:a=b`:                  `what a config has are labels`,
		`index-descriptor:a=b`:        `holds an index-descriptor`,
		`index[linux/amd64]:a=b`:      `an index is of all platforms, not of linux/amd64`,
		`manifest[linux/*]:a=b`:       `"manifest[linux/*]" is no level`,
		`manifest[plat/form]:a=b`:     `plat/form`,
		`io.github.archmage-go.leg=x`: `what archmage itself writes`,
		`manifest-descriptor:vnd.docker.reference.type=a`: `would make an attestation`,
		`"a=b`: `a quote is not closed`,
	} {
		var s Settings
		err := parseAnnotations(&s, text)
		var p *problem
		if !errors.As(err, &p) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// BuildKit reads the same keys with another separator; what it takes for one
// thing is not another here.
func TestAnnotationTargetsAreBuildKits(t *testing.T) {
	for _, target := range []string{
		"manifest", "manifest-descriptor", "index", "manifest[linux/amd64]", "manifest[linux/arm/v7]", "manifest[linux/arm64/v8]",
		"manifest-descriptor[linux/arm]", "manifest[linux/amd64/v2]", "nosuch", "Index", "manifest[]", "manifest[linux/*]", "[linux/amd64]",
	} {
		key, ok, err := exptypes.ParseAnnotationKey("annotation-" + target + ".k")
		a, ourErr := parseTarget(target)
		if theirs, ours := ok && err == nil, ourErr == nil; theirs != ours {
			t.Errorf("%s: BuildKit says %v %v, this %v", target, ok, err, ourErr)
			continue
		}
		if ourErr != nil {
			continue
		}
		platform := ""
		if key.Platform != nil {
			platform = key.PlatformString()
		}
		if got := a.Platform.String(); key.Type != string(a.Level) || strings.Trim(got, "/") != platform {
			t.Errorf("%s: %s %s, BuildKit says %s %s", target, a.Level, got, key.Type, platform)
		}
	}
}

func TestAnnotationsOfAPlatformCountMore(t *testing.T) {
	var s Settings
	if err := parseAnnotations(&s, "manifest[linux/arm64]:a=special,a=first,a=all,b=x,index:a=index"); err != nil {
		t.Fatal(err)
	}
	arm, amd := platform.Platform{OS: "linux", Arch: "arm64"}, platform.Platform{OS: "linux", Arch: "amd64"}
	if got := pairsOf(s.Annotations.On(LevelManifest, arm)); got != "a=special|b=x" {
		t.Error(got)
	}
	if got := pairsOf(s.Annotations.On(LevelManifest, amd)); got != "a=all|b=x" {
		t.Error(got)
	}
	if got := pairsOf(s.Annotations.On(LevelIndex, amd)); got != "a=index" {
		t.Error(got)
	}
}

func TestEntriesSurviveQuoting(t *testing.T) {
	for _, text := range []string{"a=b", `a=b c`, `a="b", 'c'`, `a='b' c`, `"'"'`, "a=x\ty,z"} {
		words, err := splitQuoted(Entry("k=1") + " " + Entry(text))
		if err != nil || len(words) != 2 || words[1] != text {
			t.Errorf("%s: %q, %v", text, words, err)
		}
	}
}
