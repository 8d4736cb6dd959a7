package publish

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/files"
	"github.com/archmage-go/archmage/build/registry"
)

func TestReceiptsAreReadAsTheyWereWritten(t *testing.T) {
	both(t, func(t *testing.T, repo func(string) registry.Repository) {
		dir := filepath.Join(t.TempDir(), "dist", "legs")
		if none, err := Receipts(dir); none != nil || err != nil {
			t.Errorf("without a directory: %v, %v", none, err)
		}
		r := repo("app")
		img := spec{platform: "linux/arm/v7", revision: "abc"}.image(t)
		p := Push{Image: "app", Repo: r, Leg: Leg{Platform: parse(t, "linux/arm/v7"), Tag: "v1.0.0-armv7"}, Engine: "native"}
		var want []Receipt
		for range 2 {
			got, err := PushLeg(t.Context(), p, img)
			if err != nil {
				t.Fatal(err)
			}
			if err := got.Save(files.Disk{}, dir); err != nil {
				t.Fatal(err)
			}
			want = []Receipt{got}
		}
		list, err := Receipts(dir)
		if err != nil || !slices.Equal(list, want) {
			t.Errorf("%+v, %v, want %+v", list, err, want)
		}
		h, _ := img.Digest()
		got := list[0]
		if got.Version != 1 || got.Revision != "abc" || got.Engine != "native" || got.MediaType != "application/vnd.oci.image.manifest.v1+json" || got.Digest != h.String() || got.State != Published || got.Name != r.Name() {
			t.Errorf("%+v", got)
		}
		files, _ := os.ReadDir(dir)
		if len(files) != 1 || !strings.HasPrefix(files[0].Name(), "app-linux-arm-v7-v1.0.0-armv7-") {
			t.Errorf("%v", files)
		}
	})
}

func TestNamesOfReceiptsCannotClash(t *testing.T) {
	amd64 := parse(t, "linux/amd64")
	list := []Receipt{
		{Image: "a", Name: "r/a", Platform: amd64, Tag: "b-linux-amd64-c"},
		{Image: "a-linux-amd64-b", Name: "r/a-linux-amd64-b", Platform: amd64, Tag: "c"},
		{Image: "a", Name: "other/a", Platform: amd64, Tag: "b-linux-amd64-c"},
		{Image: "a", Name: "r/a", Platform: amd64, Tag: "B-linux-amd64-c"}, // some file systems fold case
		{Image: "a", Name: "r/a", Platform: parse(t, "linux/amd64/v2"), Tag: "b-linux-amd64-c"},
		{Image: strings.Repeat("a", 200), Name: "r/" + strings.Repeat("a", 200), Platform: amd64, Tag: strings.Repeat("b", 128)},
		{Image: strings.Repeat("a", 200), Name: "r/" + strings.Repeat("a", 200), Platform: amd64, Tag: strings.Repeat("b", 127)},
		{Image: strings.Repeat("a", 200), Name: "r/" + strings.Repeat("a", 200), Platform: parse(t, "linux/arm64"), Tag: strings.Repeat("b", 128)},
	}
	seen := map[string]bool{}
	for _, r := range list {
		name := r.FileName()
		if seen[strings.ToLower(name)] || len(name) > 255 || strings.ContainsAny(name, `/\:`) || filepath.Ext(name) != ".json" {
			t.Errorf("%q", name)
		}
		seen[strings.ToLower(name)] = true
		again := r
		again.Digest, again.State = "sha256:1", Replaced
		if again.FileName() != name {
			t.Errorf("%q and %q are of one leg", again.FileName(), name)
		}
	}
}

func TestWhatIsNoReceiptIsNotOverlooked(t *testing.T) {
	for name, tt := range map[string]struct{ file, content, says string }{
		"cut short":        {"a.json", `{"version":1,"image":"a`, "read receipt "},
		"something else":   {"a.json", `{}`, "no receipt"},
		"from the future":  {"a.json", `{"version":2,"name":"n","tag":"t","digest":"d"}`, "newer archmage"},
		"a layout's index": {"index.json", `{"schemaVersion":2}`, ""},
		"a note":           {"README", `x`, ""},
		"being written":    {".tmp-1", `{`, ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.content), 0o644); err != nil {
			t.Fatal(err)
		}
		list, err := Receipts(dir)
		if tt.says == "" && (err != nil || list != nil) || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), tt.file)) {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}

func TestMissingTellsAbsentFromUnknown(t *testing.T) {
	s := serve(t)
	r := s.repo(t, "app")
	put(t, r, "dev-amd64", spec{platform: "linux/amd64"})
	legs := []Push{{Repo: r, Leg: Leg{Platform: parse(t, "linux/amd64"), Tag: "dev-amd64"}}, {Repo: r, Leg: Leg{Platform: parse(t, "linux/arm64"), Tag: "dev-arm64"}}}
	if got, err := Missing(t.Context(), legs, "abc", 0); err != nil || !slices.Equal(got, []bool{false, true}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, code := range []int{401, 403, 429, 500} {
		s.answering("dev-amd64", code)
		if got, err := Missing(t.Context(), legs, "abc", 1); err == nil || got[0] || !strings.Contains(err.Error(), "dev-amd64") {
			t.Errorf("%d: %v, %v", code, got, err)
		}
	}
}

// Of a version that moves, only what is from this very commit is there; one that
// is written once is there unless it is certainly another's.
func TestMissingIsAboutARevision(t *testing.T) {
	for _, tt := range []struct {
		label, revision string // of the leg; "-" is none
		fixed, missing  bool
	}{
		{"abc", "abc", false, false},
		{"abc", "abc", true, false},
		{"abc", "def", false, true},
		{"abc", "def", true, true},
		{"abc", "", false, true},
		{"abc", "", true, false},
		{"-", "abc", false, true},
		{"-", "abc", true, false},
		{"-", "", false, true},
		{"abc-dirty", "abc-dirty", false, true},
		{"abc-dirty", "abc-dirty", true, false},
	} {
		both(t, func(t *testing.T, repo func(string) registry.Repository) {
			r := repo("app")
			put(t, r, "x-amd64", spec{platform: "linux/amd64", revision: tt.label})
			leg := Push{Repo: r, Leg: Leg{Platform: parse(t, "linux/amd64"), Tag: "x-amd64"}, Fixed: tt.fixed}
			if got, err := Missing(t.Context(), []Push{leg}, tt.revision, 0); err != nil || got[0] != tt.missing {
				t.Errorf("%+v: %v, %v", tt, got, err)
			}
		})
	}
}

func TestWhatAKilledRunWasWritingGoesWithTheNextReceipt(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, files.Prefix+"1"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := Receipt{Image: "app", Name: "r/app", Tag: "v1-amd64", Digest: "sha256:1"}
	if err := r.Save(files.Disk{}, dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != r.FileName() {
		t.Errorf("left %v, %v", left, err)
	}
}
