package compile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestWhatKilledRunsLeftBesideProgramsGoes(t *testing.T) {
	dir := t.TempDir()
	at := time.Now().Add(-2 * abandoned)
	for _, name := range []string{stampsFile, stampsFile + "123", linkDir + "1/app", linkDir + "2/app", "app"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o755)); err != nil {
			t.Fatal(err)
		}
		top := filepath.Join(dir, filepath.Dir(name))
		if name != linkDir+"2/app" {
			if err := errors.Join(os.Chtimes(path, at, at), os.Chtimes(top, at, at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	k, err := open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	k.close()
	entries, err := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{linkDir + "2", stampsFile, "app"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left %q, want %q; %v", left, want, err)
	}
}
