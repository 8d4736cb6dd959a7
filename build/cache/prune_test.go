package cache

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// age gives a file a time in the past.
func age(t *testing.T, path string, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func (s Store) file(key string) string { return filepath.Join(s.Dir, entryName(key)) }

// has are the keys of those given that are there, without the use of any.
func (s Store) has(keys ...string) (there []string) {
	for _, key := range keys {
		if _, err := os.Lstat(s.file(key)); err == nil {
			there = append(there, key)
		}
	}
	return there
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestPruneLeavesWhatWasUsedLast(t *testing.T) {
	s := Store{Dir: t.TempDir(), Limit: 3 * 4096}
	for i, key := range []string{"a", "b", "c", "d", "e"} {
		s.Put(key, []byte(key))
		age(t, s.file(key), time.Duration(200-i)*time.Hour)
	}
	s.Get("a") // the oldest is used
	s.Prune()
	same(t, "kept", s.has("a", "b", "c", "d", "e"), "a", "d", "e")
	if u := s.Usage(); u != (Usage{3, s.Limit}) {
		t.Errorf("holds %+v", u)
	}
}

// What does not fit is passed over, and does not take smaller ones with it.
func TestPruneCountsBlocks(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	s.Put("large", bytes.Repeat([]byte("x"), 2*4096))
	s.Put("small", nil)
	age(t, s.file("small"), time.Hour)
	s.Limit = 2 * 4096
	s.Prune()
	same(t, "kept", s.has("large", "small"), "small")
}

func TestAUseOfTodayIsNotWrittenDown(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	s.Put("a", nil)
	for _, ago := range []time.Duration{time.Hour, 100 * time.Hour, -100 * time.Hour} {
		age(t, s.file("a"), ago)
		before, _ := os.Stat(s.file("a"))
		s.Get("a")
		after, _ := os.Stat(s.file("a"))
		if changed := !after.ModTime().Equal(before.ModTime()); changed != (ago.Abs() > fresh) {
			t.Errorf("used %v ago: changed %v", ago, changed)
		}
	}
}

func TestPruneSweepsWhatKilledProcessesLeft(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	old, young, foreign := filepath.Join(s.Dir, temporary+"old"), filepath.Join(s.Dir, temporary+"young"), filepath.Join(s.Dir, "notes")
	for _, path := range []string{old, young, foreign} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	age(t, old, 2*abandoned)
	age(t, foreign, 1000*time.Hour)
	s.Prune()
	same(t, "left", list(t, s.Dir), stamp, filepath.Base(young), "notes")
}

// A second look at a directory costs no listing: the limit that is lower by then
// is not applied before something is written, and not at every write.
func TestPruneLooksAgainAfterALaterWrite(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	s.Put("a", nil)
	s.Put("b", nil)
	s.Prune()
	s.Limit = 4096
	s.Prune()
	same(t, "nothing written", s.has("a", "b"), "a", "b")
	age(t, s.Dir, time.Hour)
	age(t, filepath.Join(s.Dir, stamp), time.Hour+interval/2)
	s.Prune()
	same(t, "written soon after", s.has("a", "b"), "a", "b")
	age(t, filepath.Join(s.Dir, stamp), time.Hour+2*interval)
	s.Put("c", nil)
	s.Prune()
	if left := s.has("a", "b", "c"); len(left) != 1 {
		t.Errorf("left %q", left)
	}
	s.Put("d", nil)
	s.Prune()
	if left := s.has("a", "b", "c", "d"); len(left) != 2 {
		t.Errorf("written just after: left %q", left)
	}
}

func TestClearRemovesTheStoreAlone(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "facts")}
	s.Put("a", nil)
	s.Put("b", bytes.Repeat([]byte("x"), 5000))
	s.Prune()
	mine := filepath.Join(s.Dir, "mine")
	if err := os.Mkdir(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	freed, err := s.Clear()
	if want := (Usage{2, 3 * 4096}); err != nil || freed != want {
		t.Errorf("freed %+v, %v", freed, err)
	}
	same(t, "left", list(t, s.Dir), "mine")
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	for range 2 { // also where there is nothing
		if freed, err := s.Clear(); err != nil || freed != (Usage{}) {
			t.Errorf("freed %+v, %v", freed, err)
		}
	}
	if _, err := os.Lstat(s.Dir); err == nil {
		t.Error("the empty directory is left")
	}
}

func TestWhatIsLargerThanTheLimitIsNotWritten(t *testing.T) {
	s := Store{Dir: t.TempDir(), Limit: 4096}
	s.Put("a", bytes.Repeat([]byte("x"), 4096))
	same(t, "written", list(t, s.Dir))
	unlimited := Store{Dir: s.Dir}
	unlimited.Put("a", bytes.Repeat([]byte("x"), 4096))
	if _, ok := s.Get("a"); ok {
		t.Error("read what cannot be an entry of this store")
	}
}

func TestThousandsOfEntriesAreListedOnce(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	for i := range 2000 {
		s.Put(fmt.Sprint(i), nil)
	}
	if u := s.Usage(); u.Entries != 2000 || u.Bytes != 2000*4096 {
		t.Errorf("%+v", u)
	}
}
