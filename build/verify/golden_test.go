package verify_test

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/archmage-go/archmage/build/verify"
	"github.com/archmage-go/archmage/build/verify/report"
)

// TestGolden judges every repository in testdata. The last file of each, want,
// is what report.Text writes; UPDATE=1 writes it anew. A case whose name begins
// with "ok" must have no finding.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".txtar"), func(t *testing.T) {
			t.Parallel()
			golden(t, file)
		})
	}
}

func golden(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(data)
	var want []byte
	if n := len(a.Files); n > 0 && a.Files[n-1].Name == "want" {
		want = a.Files[n-1].Data
		a.Files = a.Files[:n-1]
	}
	rule := path.Base(filepath.ToSlash(filepath.Dir(file)))
	findings, s := verify.Case(t, rule, a.Comment, a.Files)
	var got bytes.Buffer
	if err := report.Text(&got, findings, []verify.Subject{s}); err != nil {
		t.Fatal(err)
	}
	if ok := strings.HasPrefix(filepath.Base(file), "ok"); ok != (len(findings) == 0) {
		t.Errorf("%d findings:\n%s", len(findings), got.Bytes())
	} else if !ok && !slices.ContainsFunc(findings, func(f verify.Finding) bool { return f.Rule == rule }) {
		t.Errorf("no %s among the findings:\n%s", rule, got.Bytes())
	}
	if os.Getenv("UPDATE") != "" {
		a.Files = append(a.Files, txtar.File{Name: "want", Data: got.Bytes()})
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got:\n%s\nwant:\n%s", got.Bytes(), want)
	}
}
