//go:build unix

package cache

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOthersCannotReadEntries(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	s := Store{Dir: filepath.Join(t.TempDir(), "a", "b")}
	s.Put("a", nil)
	for path, want := range map[string]os.FileMode{s.file("a"): 0o600, s.Dir: 0o700, filepath.Dir(s.Dir): 0o700} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestADirectoryThatOthersWriteToIsNotUsed(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"others may write": func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o707)) },
		"a group may":      func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o770)) },
		"belongs to user 4711": func(t *testing.T, dir string) {
			if err := os.Chown(dir, 4711, -1); err != nil {
				t.Skip("only root may give a directory away: ", err)
			}
		},
		"not a directory": func(t *testing.T, dir string) {
			must(t, os.Rename(dir, dir+"2"))
			must(t, os.Symlink(dir+"2", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Store{Dir: filepath.Join(t.TempDir(), "facts")}
			s.Put("a", nil)
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			spoil(t, s.Dir)
			if _, ok := s.Get("a"); ok {
				t.Error("read")
			}
			s.Put("b", nil)
			if s.has("b") != nil {
				t.Error("written")
			}
			s.Limit = 1
			s.Prune()
			if s.has("a") == nil {
				t.Error("pruned")
			}
			err := s.Check()
			if err == nil || !strings.Contains(err.Error(), s.Dir) {
				t.Fatalf("error %v", err)
			}
			if name != "a group may" && !strings.Contains(err.Error(), name) {
				t.Errorf("error %v", err)
			}
			if _, _, err := (Trees{Dir: s.Dir}).Use("k"); err == nil {
				t.Error("used for trees")
			}
		})
	}
}

// A link in place of the directory leads nothing astray, not even removing.
func TestClearFollowsNoLink(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "facts")}
	s.Put("a", nil)
	link := Store{Dir: s.Dir + "-link"}
	must(t, os.Symlink(s.Dir, link.Dir))
	if _, err := link.Clear(); err == nil || s.has("a") == nil {
		t.Errorf("error %v, left %q", err, s.has("a"))
	}
}

func TestAnEntryThatIsALinkOrPipeIsNotRead(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	elsewhere := filepath.Join(t.TempDir(), "entry")
	s.Put("a", []byte("value"))
	must(t, os.Rename(s.file("a"), elsewhere))
	must(t, os.Symlink(elsewhere, s.file("a")))
	must(t, syscall.Mkfifo(s.file("b"), 0o600))
	for _, key := range []string{"a", "b"} {
		if _, ok := s.Get(key); ok {
			t.Errorf("read %s", key)
		}
	}
	s.Put("a", []byte("anew"))
	if got, ok := s.Get("a"); !ok || string(got) != "anew" {
		t.Errorf("%q, %v", got, ok)
	}
	if got, err := os.ReadFile(elsewhere); err != nil || !strings.HasSuffix(string(got), "value") {
		t.Errorf("what the link named: %q, %v", got, err)
	}
}

func TestADirectoryThatCannotBeWrittenIsRead(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	s.Put("a", nil)
	refuseWrites(t, s.Dir)
	s.Put("b", nil)
	if _, ok := s.Get("a"); !ok || s.has("b") != nil {
		t.Errorf("read %v, written %q", ok, s.has("b"))
	}
	if err := s.Check(); !errors.Is(err, os.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		t.Errorf("error %v", err)
	}
}

func TestADirectoryThatCannotBeMadeIsNoError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	s := Store{Dir: filepath.Join(file, "below")}
	s.Put("a", nil)
	s.Prune()
	if _, ok := s.Get("a"); ok {
		t.Error("remembered")
	}
	if err := s.Check(); err == nil {
		t.Error("no reason")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
