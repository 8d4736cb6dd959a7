package publish

import "testing"

func TestFixed(t *testing.T) {
	for version, want := range map[string]bool{
		"v1.2.3": true, "1.2.3": true, "v0.0.0": true, "v1.2.3-rc.1": true, "v1.2.3-alpha-x": true, "v1.2.3-arm64": true,
		"sha-0123abc": true, "sha-0123456789abcdef0123456789abcdef01234567": true, "v1.0.0-1-gamma": true, "v10.20.30": true,
		"v1.2": false, "v1": false, "latest": false, "dev": false, "main": false, "e2e": false, "": false,
		"v1.2.3-dirty": false, "v1.2.3-4-gabc1234": false, "v1.2.3-4-gabc1234-dirty": false, "v1.2.3-rc.1-5-gabc1234": false,
		"v1.2.3-4-gabc1234-arm64": false, "v1.2.3-dirty-arm64": false, "abc1234": false, "sha-xyz": false, "sha-": false,
		"sha-abc-dirty": false, "v01.2.3": false, "v1.2.3-01": false, "v1.2.3.4": false, "vv1.2.3": false, "v1.2.3-": false,
		"release-v1.2.3": false, "V1.2.3": false,
	} {
		if got := Fixed(version); got != want {
			t.Errorf("Fixed(%q) = %t", version, got)
		}
	}
}
