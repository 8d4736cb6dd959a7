package verify

import (
	"testing"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/platform"
)

func TestWhatAnUnsetVariableChanges(t *testing.T) {
	for text, want := range map[string]bool{
		"bin/$TARGETARCH":                          true,
		"bin/${TARGETARCH}":                        true,
		"bin/${TARGETARCH:-arm64}":                 true,
		"bin/${TARGETARCH:-amd64}":                 false,
		"bin/${TARGETARCH-amd64}":                  false,
		"${TARGETARCH:-amd64}/$TARGETARCH":         true,
		"${TARGETARCH:-amd64}/${TARGETARCH-amd64}": false,
		"${TARGETARCH:+amd64}":                     true,
		"${TARGETARCH:-${TARGETARCH:-amd64}}":      true,
		"${DIR:-${TARGETARCH:-amd64}}":             false,
		"$TARGETARCHS":                             false,
		"$TARGETVARIANT":                           false,
	} {
		for _, name := range []string{"TARGETARCH", "TARGETVARIANT"} {
			if got := empty(text, name, platform.Platform{OS: "linux", Arch: "amd64"}); got != (want && name == "TARGETARCH") {
				t.Errorf("%s in %s: %v", name, text, got)
			}
		}
	}
	if !empty("${BUILDARCH:-amd64}", "BUILDARCH", platform.Platform{OS: "linux", Arch: "amd64"}) {
		t.Error("the machine that builds is known")
	}
}

func TestWhatAnEnvSets(t *testing.T) {
	for text, want := range map[string]bool{
		"ENV A=1": true, "ENV A 1": true, "env B=2 \\\n\tA=1": true, "ENV A= B=1": true, "ENV A  =": true,
		"ENV AB=1": false, "ENV B=A": false, "ENV B=$A": false, "ENV =A=1": false, "ENV A": false,
	} {
		if got := sets(&dockerfile.Instruction{Keyword: "ENV", Text: text}, "A"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
