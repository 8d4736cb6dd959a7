package build

import (
	"strings"
	"testing"
)

const someDigest = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func TestReferencesAreSplit(t *testing.T) {
	for text, want := range map[string][2]string{
		"ghcr.io/org/app:v1":                    {"ghcr.io/org/app", "v1"},
		"localhost:5000/app:v1":                 {"localhost:5000/app", "v1"},
		"localhost:5000/app":                    {"localhost:5000/app", ""},
		"[::1]:5000/x/app:v1":                   {"[::1]:5000/x/app", "v1"},
		"ghcr.io/org/app@" + someDigest:         {"ghcr.io/org/app", someDigest},
		"ghcr.io/org/app:v1@" + someDigest:      {"ghcr.io/org/app", someDigest},
		"localhost:5000/app:v1.2@" + someDigest: {"localhost:5000/app", someDigest},
		"dist/app":                              {"dist/app", ""},
		"dist/app:v1":                           {"dist/app", "v1"},
		"/tmp/a.b/app:v1":                       {"/tmp/a.b/app", "v1"},
		"app":                                   {"app", ""},
		"app:v1":                                {"app", "v1"},
	} {
		name, ref, err := splitRef(text)
		if name != want[0] || ref != want[1] || err != nil {
			t.Errorf("%s: %q %q, %v", text, name, ref, err)
		}
	}
	for _, text := range []string{"", ":v1", "@" + someDigest, "app:", "app:v1+2", "app@sha256:12", "app@v1", "app:-v1", "x/app:v1@"} {
		if name, ref, err := splitRef(text); err == nil || ExitCode(err) != ExitUsage {
			t.Errorf("%q: %q %q, %v", text, name, ref, err)
		}
	}
}

func FuzzSplitRef(f *testing.F) {
	for _, text := range []string{"ghcr.io/org/app:v1@" + someDigest, "app", "dist/app:v1", "a:b:c@d@e"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, ref, err := splitRef(text)
		if err == nil && (name == "" || !strings.HasPrefix(text, name) || !strings.HasSuffix(text, ref)) {
			t.Errorf("%q: %q and %q", text, name, ref)
		}
	})
}

func TestOnlyHashesReachGit(t *testing.T) {
	p := &Project{} // it has no runner: starting git would panic
	good := strings.Repeat("a", 40)
	for _, text := range []string{"", "--output=x", "main", "HEAD", strings.Repeat("a", 39), strings.Repeat("A", 40), good + "\n", good + "-dirty"} {
		if p.before(t.Context(), text, good) || p.before(t.Context(), good, text) {
			t.Errorf("%q precedes", text)
		}
	}
}
