package verify

import (
	"bytes"
	"os"
	"testing"
)

// The document shows what is written of its example.
func TestDocumentShowsWhatIsWritten(t *testing.T) {
	data, err := os.ReadFile("../../docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	found, s := check(t, "", file("Dockerfile", example(string(data), "dockerfile")))
	var text, json, github bytes.Buffer
	if err := WriteText(&text, found, []Subject{s}); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(&json, found); err != nil {
		t.Fatal(err)
	}
	if err := WriteGitHub(&github, found); err != nil {
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
