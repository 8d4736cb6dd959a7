package registry

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckTag(t *testing.T) {
	for tag, near := range map[string]string{
		"v1.0.0": "", "latest": "", "_x": "", "1": "", "v1.0.0-arm64": "", strings.Repeat("x", 128): "",
		"v1.0.0+meta": "v1.0.0-meta", "feature/x": "feature-x", "-x": "x", ".x": "x", "a b": "a-b", "ü1": "1",
		strings.Repeat("x", 129): strings.Repeat("x", 128), "": "-", "…": "-",
	} {
		err := CheckTag(tag)
		legal := near == ""
		if (err == nil) != legal {
			t.Errorf("%q: %v", tag, err)
		}
		if near != "" && near != "-" && !strings.HasSuffix(hint(err), ": "+near) {
			t.Errorf("%q: hint %q, want %q", tag, hint(err), near)
		}
	}
}

func TestCheckRepository(t *testing.T) {
	for name, near := range map[string]string{
		"ghcr.io/org/app": "", "localhost:5000/app": "", "localhost/app": "", "app": "", "org/app": "", "[::1]:5000/a": "",
		"ghcr.io/a.b_c__d-e---f/x1": "", "127.0.0.1:5000/a/b/c": "",
		"ghcr.io/Org/App": "ghcr.io/org/app", "ghcr.io/org/_app": "ghcr.io/org/app", "ghcr.io/org/app_": "ghcr.io/org/app",
		"ghcr.io/a..b": "ghcr.io/a-b", "ghcr.io/a b": "ghcr.io/a-b", "ghcr.io//a": "-", "ghcr.io/": "-", "": "-",
		"https://ghcr.io/org": "ghcr.io/org", "ghcr.io/org/app:v1": "ghcr.io/org/app-v1", "-bad-.io/x": "-",
		"ghcr.io/" + strings.Repeat("x", 256): "-", "../../etc": "-", "ghcr.io/../x": "-",
	} {
		err := CheckRepository(name)
		if (err == nil) != (near == "") {
			t.Errorf("%q: %v", name, err)
		}
		if near != "" && near != "-" && !strings.HasSuffix(hint(err), near) {
			t.Errorf("%q: hint %q, want %q", name, hint(err), near)
		}
	}
}

func TestUserinfoIsNeverShown(t *testing.T) {
	err := CheckRepository("me:secret@ghcr.io/org/app")
	if err == nil || strings.Contains(err.Error()+hint(err), "secret") {
		t.Errorf("%v, %s", err, hint(err))
	}
	c, _ := testClient(t, Options{})
	if _, err := c.Open("me:secret@ghcr.io/org/app", Read); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func FuzzSanitized(f *testing.F) {
	for _, s := range []string{"v1+x", "a/b", "..", "A_-_b//c", "x._y", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if tag := SanitizeTag(s); tag != "" && CheckTag(tag) != nil {
			t.Errorf("tag %q became %q", s, tag)
		}
		if CheckTag(s) == nil && SanitizeTag(s) != s {
			t.Errorf("legal tag %q became %q", s, SanitizeTag(s))
		}
		if path := sanitizePath(s); path != "" && !pathGrammar.MatchString(path) {
			t.Errorf("path %q became %q", s, path)
		}
	})
}
