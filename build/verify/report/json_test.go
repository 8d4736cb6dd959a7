package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/verify"
)

func TestJSONHasExactlyTheseKeys(t *testing.T) {
	got, _ := check(t, "FROM scratch\n  COPY bin/app /app\n", "linux/arm/v7")
	var out bytes.Buffer
	if err := JSON(&out, got); err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": 1,
  "findings": [
    {
      "rule": "ArchBlindCopy",
      "severity": "error",
      "file": "Dockerfile",
      "start": {
        "line": 2,
        "column": 3
      },
      "end": {
        "line": 2,
        "column": 20
      },
      "image": "app",
      "platforms": [
        "linux/amd64",
        "linux/arm/v7"
      ],
      "message": "linux/amd64 and linux/arm/v7 copy the same bin/app",
      "fix": "ARG TARGETARCH\nCOPY bin/app-linux-${TARGETARCH} /app",
      "url": "https://github.com/archmage-go/archmage/blob/main/docs/rules/ArchBlindCopy.md"
    }
  ]
}
`
	if out.String() != want {
		t.Errorf("got %s", out.String())
	}
}

func TestJSONWithoutFindingsIsAnEmptyList(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, nil); err != nil || out.String() != "{\n  \"version\": 1,\n  \"findings\": []\n}\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestSeverityAndPlatformsAreText(t *testing.T) {
	data, err := json.Marshal(verify.Finding{Severity: verify.Warning, Platforms: []platform.Platform{{OS: "linux", Arch: "arm", Variant: "v6"}}})
	if err != nil || !bytes.Contains(data, []byte(`"severity":"warning"`)) || !bytes.Contains(data, []byte(`["linux/arm/v6"]`)) {
		t.Errorf("got %s, %v", data, err)
	}
}
