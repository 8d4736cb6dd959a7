package compile

import (
	"slices"
	"strings"
	"testing"
)

func TestLDFlags(t *testing.T) {
	for _, c := range []struct{ given, pkg, version, want string }{
		{"-s -w", "", "", "-s -w"},
		{"", "", "", ""},
		{"", "main", "1.0", "-X 'main.Version=1.0'"},
		{"-s -w", "main", "latest", "-s -w"},
		{"-s -w", "main", "", "-s -w"},
		{"-s  -w ", "a/b", "it's", `-s -w -X "a/b.Version=it's"`},
		{"-s", "main", `a "b"`, `-s -X 'main.Version=a "b"'`},
		{"all=-s -w", "main", "1", "all=-s -w -X 'main.Version=1'"},
		{"-X main.date=Mon Jan 2 -s", "", "", "-X 'main.date=Mon Jan 2' -s"},
		{"-X main.a=1 2 -X main.b=3", "", "", "-X 'main.a=1 2' -X 'main.b=3'"},
		{"-X=main.a=1 2 -w", "", "", "'-X=main.a=1 2' -w"},
		{"-X main.a=1 -extldflags '-static -lm'", "", "", "-X main.a=1 -extldflags '-static -lm'"},
		{"-X main.a=1 -extldflags '-static -lm'", "main", "2", "-X 'main.a=1' -extldflags '-static -lm' -X 'main.Version=2'"},
		{"-X 'main.a=x y'", "", "", "-X 'main.a=x y'"},
		{"-X -X=1 -s", "", "", "-X -X=1 -s"},
	} {
		got, err := ldflags(Options{LDFlags: c.given, VersionPkg: c.pkg, Version: c.version})
		if err != nil || got != c.want {
			t.Errorf("%q with %s=%s: %q, %v; want %q", c.given, c.pkg, c.version, got, err, c.want)
		}
	}
}

func TestLDFlagsThatNoQuotingSaves(t *testing.T) {
	for given, cause := range map[string]string{
		`-X 'main.a=b`:        "unterminated '",
		`-s "`:                `unterminated "`,
		`-X main.a="it's" me`: "both kinds of quotes",
	} {
		_, err := ldflags(Options{LDFlags: given})
		var h interface{ Hint() string }
		if err == nil || !strings.Contains(err.Error(), cause) {
			t.Errorf("%q: %v", given, err)
		} else if h, _ = err.(interface{ Hint() string }); h == nil || h.Hint() == "" {
			t.Errorf("%q: no hint", given)
		}
	}
}

// What is joined by quoting is split into the same words again.
func FuzzQuotedWordsSplitAgain(f *testing.F) {
	f.Add("-s", "-X", "main.a=b c")
	f.Add("", "it's", "\"")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		words := []string{a, b, c}
		var text []string
		for _, w := range words {
			q, err := quote(w, false)
			if err != nil {
				return
			}
			text = append(text, q)
		}
		if got, err := split(strings.Join(text, " ")); err != nil || !slices.Equal(got, words) {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	})
}
