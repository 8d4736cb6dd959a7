//go:build unix

package cache

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Tests with several processes, and with processes that are killed. A process is
// this test's own binary with the name of its task as first argument.

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && tasks()[os.Args[1]] != nil {
		n, _ := strconv.Atoi(os.Args[3])
		if err := tasks()[os.Args[1]](os.Args[2], n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func tasks() map[string]func(dir string, n int) error {
	return map[string]func(string, int) error{
		"task-use": useStore, "task-prune": pruneStore, "task-clear": clearStore, "task-write": writeOn, "task-full": fullDisk,
		"task-hold": holdTree, "task-trees": useTrees, "task-clear-trees": clearTrees,
	}
}

// start runs a task. Its output ends when it does.
func start(t *testing.T, task, dir string, n int) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], task, dir, strconv.Itoa(n))
	cmd.Stderr = os.Stderr
	_, err := cmd.StdinPipe() // open until this process waits
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, bufio.NewReader(out)
}

// runAll runs tasks at once and waits for all.
func runAll(t *testing.T, dir string, n int, names ...string) {
	t.Helper()
	var group sync.WaitGroup
	for _, name := range names {
		cmd, out := start(t, name, dir, n)
		group.Go(func() {
			_, _ = io.Copy(io.Discard, out)
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	group.Wait()
}

// content is what the tests put under a key: some of it is large.
func content(key int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d ", key), 1+key%7*key%7*5000)
}

func right(s Store, key int) error {
	if got, ok := s.Get(fmt.Sprint(key)); ok && !bytes.Equal(got, content(key)) {
		return fmt.Errorf("key %d: %d bytes, want %d", key, len(got), len(content(key)))
	}
	return nil
}

func useStore(dir string, n int) error {
	s := Store{Dir: dir}
	for i := range n {
		s.Put(fmt.Sprint(i%40), content(i%40))
		for j := range 5 {
			if err := right(s, (i*7+j)%40); err != nil {
				return err
			}
		}
	}
	return nil
}

func pruneStore(dir string, n int) error {
	for range n {
		_ = os.Remove(filepath.Join(dir, stamp)) // else it looks rarely
		Store{Dir: dir, Limit: 200 << 10}.Prune()
	}
	return nil
}

func clearStore(dir string, n int) error {
	for range n {
		if _, err := (Store{Dir: dir}).Clear(); err != nil {
			return err
		}
	}
	return nil
}

func TestProcessesShareAStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	runAll(t, dir, 300, "task-use", "task-use", "task-prune", "task-clear")
	s := Store{Dir: dir}
	s.Put("1", content(1))
	if _, ok := s.Get("1"); !ok {
		t.Error("of no use afterwards")
	}
	for _, name := range list(t, dir) {
		if strings.HasPrefix(name, temporary) {
			t.Errorf("left %s", name)
		}
	}
}

func writeOn(dir string, _ int) error {
	s := Store{Dir: dir}
	for i := 0; ; i++ {
		s.Put(fmt.Sprint(i%40), content(i%40))
		fmt.Println(i)
	}
}

func TestAKilledWriterLeavesNothingWrong(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "facts")}
	for round := range 12 {
		cmd, out := start(t, "task-write", s.Dir, 0)
		for range round * 5 {
			if _, err := out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		for key := range 40 {
			if err := right(s, key); err != nil {
				t.Error(err)
			}
		}
	}
	useAfter(t, s)
}

// useAfter is the next run: it writes, reads, and sweeps in time.
func useAfter(t *testing.T, s Store) {
	t.Helper()
	for _, name := range list(t, s.Dir) {
		if strings.HasPrefix(name, temporary) {
			age(t, filepath.Join(s.Dir, name), 2*abandoned)
		}
	}
	_ = os.Remove(filepath.Join(s.Dir, stamp))
	s.Put("after", []byte("value"))
	if got, ok := s.Get("after"); !ok || string(got) != "value" {
		t.Errorf("afterwards: %q, %v", got, ok)
	}
	s.Prune()
	for _, name := range list(t, s.Dir) {
		if strings.HasPrefix(name, temporary) {
			t.Errorf("left %s", name)
		}
	}
}

// fullDisk is a process that may write no more than n bytes to a file: what a
// disk does that fills up in the middle of one.
func fullDisk(dir string, n int) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: uint64(n), Max: uint64(n)}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "probe"), make([]byte, n+1), 0o600); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("the limit does not hold: %w", err)
	}
	return writeLargeAndSmall(Store{Dir: filepath.Join(dir, "facts")}, n)
}

// writeLargeAndSmall writes more than fits, and then what fits.
func writeLargeAndSmall(s Store, n int) error {
	s.Put("small", []byte("value"))
	s.Put("large", make([]byte, n+1))
	s.Put("small", []byte("large")) // in the place of one that is there
	if _, ok := s.Get("large"); ok {
		return errors.New("remembers what it could not write")
	}
	if got, ok := s.Get("small"); !ok || string(got) != "large" {
		return fmt.Errorf("small: %q, %v", got, ok)
	}
	if u := s.Usage(); u.Entries != 1 {
		return fmt.Errorf("holds %+v", u)
	}
	return nil
}

func TestAFullDiskIsNoError(t *testing.T) {
	runAll(t, t.TempDir(), 10000, "task-full")
}

func holdTree(dir string, _ int) error {
	_, _, err := (Trees{Dir: dir}).Use("repository")
	if err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin) // until it is killed
	return err
}

func TestWhatAProcessHoldsStaysUntilItDies(t *testing.T) {
	trees := Trees{Dir: filepath.Join(t.TempDir(), "compile"), Limit: 1}
	cmd, out := start(t, "task-hold", trees.Dir, 0)
	if line, err := out.ReadString('\n'); line != "held\n" {
		t.Fatal(line, err)
	}
	age(t, trees.Path("repository"), 100*fresh)
	trees.Age = fresh
	trees.Prune()
	_, err := trees.Clear()
	if got := list(t, trees.Dir); !errors.Is(err, ErrInUse) || !errors.Is(trees.Remove("repository"), ErrInUse) || len(got) != 1 {
		t.Errorf("error %v, left %q", err, got)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	trees.Prune()
	if got := list(t, trees.Dir); len(got) != 0 {
		t.Errorf("left %q", got)
	}
}

func useTrees(dir string, n int) error {
	for i := range n {
		tree, release, err := (Trees{Dir: dir}).Use("repository")
		if err != nil {
			return err
		}
		file := filepath.Join(tree, fmt.Sprint(os.Getpid(), "-", i))
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return err
		}
		if _, err := os.Stat(file); err != nil {
			return err
		}
		release()
	}
	return nil
}

func clearTrees(dir string, n int) error {
	for range n {
		if _, err := (Trees{Dir: dir}).Clear(); err != nil && !errors.Is(err, ErrInUse) {
			return err
		}
		Trees{Dir: dir, Limit: 1, Age: 1}.Prune()
	}
	return nil
}

func TestProcessesShareTrees(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "compile")
	runAll(t, dir, 500, "task-trees", "task-clear-trees", "task-clear-trees", "task-clear-trees")
}

// Whoever waits for a tree that is being removed gets the one that is there then.
func TestATreeThatIsRemovedMeanwhileIsMadeAnew(t *testing.T) {
	trees := Trees{Dir: filepath.Join(t.TempDir(), "compile")}
	for range 200 {
		_, release, err := trees.Use("a")
		must(t, err)
		release()
		var user sync.WaitGroup
		must(t, holding(trees.Path("a"), func(dir string) error {
			user.Go(func() {
				dir, release, err := trees.Use("a")
				if err != nil {
					t.Error(err)
					return
				}
				defer release()
				if _, err := os.Stat(dir); err != nil {
					t.Error(err)
				}
			})
			runtime.Gosched()
			return os.RemoveAll(dir)
		}))
		user.Wait()
	}
}

func TestANewTreeIsNotClaimedByTheHandleOfAnOldOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	must(t, os.Mkdir(dir, 0o700))
	f, err := os.Open(dir)
	must(t, err)
	defer f.Close()
	must(t, os.Rename(dir, dir+"-old"))
	must(t, os.Mkdir(dir, 0o700))
	if claimed(f, dir) {
		t.Error("claimed")
	}
}
