package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/verify"
)

func TestTextHasNoControlCharacters(t *testing.T) {
	got, s := check(t, "FROM scratch\nCOPY bin/app /\x1b[31mapp\u009b\n", "linux/arm64")
	var out bytes.Buffer
	if err := Text(&out, got, s); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || strings.ContainsAny(out.String(), "\x1b\u009b") || !strings.Contains(out.String(), "?[31mapp?") {
		t.Errorf("got %q", out.String())
	}
}

func TestSeverityAndRuleAreMarked(t *testing.T) {
	got, s := check(t, "FROM scratch\nCOPY bin/app /app\nMAINTAINER me\n", "linux/arm64")
	var out, plain bytes.Buffer
	mark := func(s verify.Severity, text string) string { return string(s[0]) + "<" + text + ">" }
	if err := Marked(&out, got, s, mark); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "Dockerfile:2:1: e<error ArchBlindCopy> (app): ") || !strings.Contains(out.String(), "Dockerfile:3:1: w<warning MaintainerDeprecated> (app): ") {
		t.Errorf("got %s", out.String())
	}
	if _ = Text(&plain, got, s); strings.NewReplacer("e<", "", "w<", "", "> (", " (").Replace(out.String()) != plain.String() {
		t.Errorf("otherwise it differs: %s", out.String())
	}
}

func TestLongInstructionsAreCut(t *testing.T) {
	text := "FROM scratch\nCOPY \\\n" + strings.Repeat("  # a line\n", 40) + "  bin/app /app\n"
	got, s := check(t, text, "linux/arm64")
	var out bytes.Buffer
	if err := Text(&out, got, s); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n > excerpt+5 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}

// FuzzTextIsPrintable writes a finding with any texts at any place of any source.
func FuzzTextIsPrintable(f *testing.F) {
	f.Add("FROM scratch\n", "x", 1, 1)
	f.Add("\ufeffFROM\r\n\x1b[2J", "a\nb\u0085\x7f", -3, 1<<40)
	f.Fuzz(func(t *testing.T, source, text string, start, end int) {
		finding := odd()
		finding.Message, finding.Image, finding.Fix, finding.Start.Line, finding.End.Line = text, text, text, start, end
		s := verify.Subject{Recipes: []*dockerfile.Recipe{nil, {}, {Dockerfile: finding.File, File: &dockerfile.File{Data: []byte(source)}}}}
		var out bytes.Buffer
		if err := Text(&out, []verify.Finding{finding}, []verify.Subject{s}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(out.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("got %q", out.String())
		}
		if n := strings.Count(out.String(), "\n"); n > 1+excerpt+1+strings.Count(text, "\n")+1+1 {
			t.Errorf("%d lines: %q", n, out.String())
		}
	})
}
