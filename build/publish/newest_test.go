package publish

import (
	"strings"
	"testing"
)

// What is newer for one image stays for all; any other refusal is an error still.
func TestATagOfWhatIsNewerStaysForAllImages(t *testing.T) {
	for _, tt := range []struct {
		name    string
		latest  string // of the version that a's latest is; "" is none
		version string
		fewer   bool // b's latest has more platforms than the new one
		stays   bool
		refused string
	}{
		{"nothing there", "", "v1.2.0", false, false, ""},
		{"a higher one", "v1.1.0", "v1.2.0", false, false, ""},
		{"a lower one", "v1.3.0", "v1.2.0", false, true, ""},
		{"a pre-release", "v1.1.0", "v1.2.0-rc.1", false, true, ""},
		{"fewer platforms", "v1.1.0", "v1.2.0", true, false, "names 2 platforms"},
		{"a lower one, and fewer platforms of another", "v1.3.0", "v1.2.0", true, false, "names 2 platforms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t)
			a, b := s.repo(t, "a"), s.repo(t, "b")
			for _, r := range []string{"a", "b"} {
				put(t, s.repo(t, r), tt.version, spec{platform: "linux/amd64", version: tt.version})
			}
			if tt.latest != "" {
				put(t, a, "latest", spec{platform: "linux/amd64", version: tt.latest, content: "old"})
			}
			if tt.fewer {
				joined(t, b, "linux/amd64,linux/arm64", "v0.1.0", "latest")
			}
			s.writes()
			var stayed []string
			o := Options{Stays: func(tag string, why error) { stayed = append(stayed, tag+": "+why.Error()) }}
			list := []Promotion{
				{Image: "a", Repo: a, Source: tt.version, Tags: []string{"latest", "other"}},
				{Image: "b", Repo: b, Source: tt.version, Tags: []string{"latest", "other"}},
			}
			written, err := Promote(t.Context(), list, o)
			wrote := strings.Join(s.writes(), " ")
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) || wrote != "" || len(stayed) > 0 {
					t.Errorf("%v; wrote %q; stayed %q", err, wrote, stayed)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(wrote, "latest") == tt.stays || !strings.Contains(wrote, "a:other") || !strings.Contains(wrote, "b:other") {
				t.Errorf("wrote %q", wrote)
			}
			if (len(stayed) > 0) != tt.stays || (len(written) == 2) != tt.stays {
				t.Errorf("stayed %q, written %v", stayed, written)
			}
		})
	}
}
