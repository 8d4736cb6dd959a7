package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestReplaceIsAllOrNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	path := filepath.Join(dir, "file")
	if err := Replace(path, text("one")); err != nil {
		t.Fatal(err)
	}
	wrong := errors.New("wrong")
	err := Replace(path, func(w io.Writer) error {
		io.WriteString(w, "half")
		if got, _ := os.ReadFile(path); string(got) != "one" {
			t.Errorf("meanwhile it is %q", got)
		}
		return wrong
	})
	if got, _ := os.ReadFile(path); !errors.Is(err, wrong) || string(got) != "one" {
		t.Errorf("%v, %q", err, got)
	}
	if err := Replace(path, text("two")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if got, _ := os.ReadFile(path); err != nil || string(got) != "two" || runtime.GOOS != "windows" && info.Mode() != 0o644 {
		t.Errorf("%q, %v, %v", got, info.Mode(), err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"file"}) {
		t.Errorf("left %q", got)
	}
}

func TestSweepRemovesWhatNobodyWritesAnyMore(t *testing.T) {
	dir := t.TempDir()
	leave := func(name string) {
		t.Helper()
		path := filepath.Join(dir, name)
		at := time.Now().Add(-2 * old)
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	leave(Prefix + "killed")
	leave("README")
	if err := os.Mkdir(filepath.Join(dir, Prefix+"dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := Replace(filepath.Join(dir, "file"), func(io.Writer) error {
		Sweep(dir)
		got := names(t, dir)
		if len(got) != 3 || slices.Contains(got, Prefix+"killed") {
			t.Errorf("swept to %q", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	Sweep(filepath.Join(dir, "none"))
}

// Somebody else may sweep at any moment, also between a file's being made and
// its being locked.
func TestSweepingDisturbsNoWriter(t *testing.T) {
	dir := t.TempDir()
	var writers, sweepers sync.WaitGroup
	ended := make(chan struct{})
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
					Sweep(dir)
				}
			}
		})
	}
	for i := range 4 {
		writers.Go(func() {
			for range 200 {
				if err := Replace(filepath.Join(dir, string(rune('a'+i))), text("x")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(ended)
	sweepers.Wait()
	if got := strings.Join(names(t, dir), ""); got != "abcd" {
		t.Errorf("left %q", got)
	}
}
