package plan

import (
	"testing"

	"github.com/archmage-go/archmage/build/platform"
)

const legForm = "{version}-{arch}{variant}"

func plat(t *testing.T, text string) platform.Platform {
	t.Helper()
	p, err := platform.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLegTag(t *testing.T) {
	tests := []struct{ form, version, platform, want string }{
		{legForm, "v1.2.3", "linux/amd64", "v1.2.3-amd64"},
		{legForm, "v1.2.3", "linux/arm/v6", "v1.2.3-armv6"},
		{legForm, "v1.2.3-amd64", "linux/amd64", "v1.2.3-amd64"},
		{legForm, "v1.2.3-armv7", "linux/arm", "v1.2.3-armv7"},
		{legForm, "v1.2.3-arm", "linux/arm", "v1.2.3-arm-armv7"},
		{"{version}-{os}-{arch}{variant}", "v1", "linux/arm64", "v1-linux-arm64"},
		{"{version}-{os}-{arch}", "v1-linux-arm64", "linux/arm64", "v1-linux-arm64"},
		{"{arch}-{version}", "v1", "linux/arm64", "arm64-v1"},
		{"{arch}-{version}", "v1-arm64", "linux/arm64", "arm64-v1-arm64"},
	}
	for _, tt := range tests {
		if got := LegTag(tt.form, tt.version, plat(t, tt.platform)); got != tt.want {
			t.Errorf("%s, %s on %s: got %s, want %s", tt.form, tt.version, tt.platform, got, tt.want)
		}
	}
}

func TestBaseVersionHasNoLegSuffix(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "v1.2.3", "v1.2.3-amd64": "v1.2.3", "v1-armv6": "v1", "v1-arm64": "v1",
		"v1-riscv64": "v1", "v1-rc.1": "v1-rc.1", "latest": "latest", "amd64": "amd64",
	} {
		if got := BaseVersion(legForm, version); got != want {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
	}
}

func TestAVersionNamesNoOtherLeg(t *testing.T) {
	amd64, arm64 := plat(t, "linux/amd64"), plat(t, "linux/arm64")
	tests := []struct {
		version string
		planned []platform.Platform
		ok      bool
	}{
		{"v1", []platform.Platform{amd64, arm64}, true},
		{"v1-amd64", []platform.Platform{amd64}, true},
		{"v1-amd64", []platform.Platform{arm64}, false},
		{"v1-amd64", []platform.Platform{amd64, arm64}, false},
		{"v1-s390x", []platform.Platform{amd64, arm64}, false},
	}
	for _, tt := range tests {
		if err := CheckVersion(legForm, tt.version, tt.planned); (err == nil) != tt.ok {
			t.Errorf("%s for %v: %v", tt.version, tt.planned, err)
		}
	}
}
