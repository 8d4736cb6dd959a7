package plan

import (
	"strings"
	"testing"
)

func TestLegalNamesAreTheNearest(t *testing.T) {
	for text, want := range map[string]string{
		"My App": "my-app", "owner+repo@old": "owner-repo-old", "a__b": "a__b", "a___b": "a-b", "a.-b": "a-b",
		"a---b": "a---b", "_x.": "x", "ok-1.2": "ok-1.2", "+@": "", "é": "",
	} {
		got := LegalName(text)
		if got != want || got != "" && !legal.MatchString(got) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestIllegalNamesAreRefusedWithTheBetterOne(t *testing.T) {
	err := CheckNames([]Image{{Name: "fine"}, {Name: "a+b", Dockerfile: "dockerfiles/a+b.Dockerfile"}, {Name: "x+", Dockerfile: "x+/Dockerfile"}})
	if err == nil || strings.Count(err.Error(), "not a legal image name") != 2 {
		t.Fatalf("got %v", err)
	}
	if err := CheckNames([]Image{{Name: "fine"}}); err != nil {
		t.Error(err)
	}
}
