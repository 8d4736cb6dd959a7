package cache

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestAnEntryIsWhatWasPut(t *testing.T) {
	s := Store{Dir: t.TempDir() + "/new"}
	s.Put("a", []byte("1"))
	s.Put("b", nil)
	for key, want := range map[string]string{"a": "1", "b": ""} {
		if got, ok := s.Get(key); !ok || string(got) != want {
			t.Errorf("%s: %q, %v", key, got, ok)
		}
	}
	if _, ok := s.Get("c"); ok {
		t.Error("what was never put")
	}
}

func TestADamagedEntryIsNotRemembered(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	s.Put("a", []byte("value"))
	s.Put("b", []byte("other"))
	whole, err := os.ReadFile(filepath.Join(s.Dir, entryName("a")))
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := append([]byte(nil), whole...)
		damaged[i] ^= 1
		if err := os.WriteFile(filepath.Join(s.Dir, entryName("a")), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Get("a"); ok {
			t.Errorf("byte %d changed: %q", i, got)
		}
		if err := os.WriteFile(filepath.Join(s.Dir, entryName("a")), whole[:i], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Get("a"); ok {
			t.Errorf("cut after %d bytes", i)
		}
	}
	if err := os.Rename(filepath.Join(s.Dir, entryName("b")), filepath.Join(s.Dir, entryName("a"))); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Get("a"); ok {
		t.Errorf("another key's entry: %q", got)
	}
}

func TestTheZeroStoreRemembersNothing(t *testing.T) {
	Store{}.Put("a", nil)
	if _, ok := (Store{}).Get("a"); ok {
		t.Error("remembered")
	}
}

func BenchmarkGet(b *testing.B) {
	s := Store{Dir: b.TempDir()}
	s.Put("a", make([]byte, 200))
	for b.Loop() {
		s.Get("a")
	}
}

func BenchmarkPut(b *testing.B) {
	s := Store{Dir: b.TempDir()}
	for i := 0; b.Loop(); i++ {
		s.Put(strconv.Itoa(i), make([]byte, 200))
	}
}

// The end of a run that wrote nothing.
func BenchmarkPruneWithoutNews(b *testing.B) {
	s := Store{Dir: b.TempDir(), Limit: 1 << 30}
	s.Put("a", nil)
	s.Prune()
	for b.Loop() {
		s.Prune()
	}
}
