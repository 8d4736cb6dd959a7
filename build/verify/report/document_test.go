package report

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The document shows what is written of its example.
func TestDocumentShowsWhatIsWritten(t *testing.T) {
	data, err := os.ReadFile("../../../docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	found, s := check(t, example(string(data), "dockerfile"), "linux/arm64")
	var text, json, github bytes.Buffer
	if err := Text(&text, found, s); err != nil {
		t.Fatal(err)
	}
	if err := JSON(&json, found); err != nil {
		t.Fatal(err)
	}
	if err := GitHub(&github, found); err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string][]byte{"text": text.Bytes(), "json": json.Bytes()} {
		if got := example(string(data), language); got != string(want) {
			t.Errorf("%s: the document has %s, not %s", language, got, want)
		}
	}
	if !bytes.Contains(data, append([]byte("```text\n"), github.Bytes()...)) {
		t.Errorf("the document has no %s", github.Bytes())
	}
}

// example is the first fenced block of a language.
func example(text, language string) string {
	_, text, _ = strings.Cut(text, "```"+language+"\n")
	text, _, _ = strings.Cut(text, "```")
	return text
}
