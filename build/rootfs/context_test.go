package rootfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tonistiigi/fsutil"
	"github.com/tonistiigi/fsutil/types"
)

// checkout writes lines in plant's form to a directory and opens it as a
// context. Owners are whoever runs the test.
func checkout(t testing.TB, lines ...string) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	tree := plant(t, lines...)
	first := map[*Node]string{}
	var dirs []string
	err := tree.Walk("/", func(p string, n *Node) error {
		at := filepath.Join(dir, p)
		switch was := first[n]; {
		case was != "":
			return os.Link(was, at)
		case p == "/":
			return nil
		case n.IsDir():
			dirs = append(dirs, p)
			return os.Mkdir(at, 0o755)
		case n.IsLink():
			first[n] = at
			return os.Symlink(n.Link, at)
		case n.Mode.Type() == fs.ModeNamedPipe:
			return syscall.Mkfifo(at, 0o644)
		}
		first[n] = at
		if err := os.WriteFile(at, []byte(readAll(t, n)), 0o644); err != nil {
			return err
		}
		return os.Chmod(at, n.Mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range dirs {
		n, _ := tree.Lstat(p)
		if err := os.Chmod(filepath.Join(dir, p), n.Mode); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func TestContextIsWhatAClientSends(t *testing.T) {
	for _, tc := range []struct {
		name, files     string
		follow, exclude []string
		want            string
	}{
		{"everything", "a =A; d/ 0750; d/b 0755 =B; l ->/abs; e/; p |fifo", nil, nil, "a =A; d/ 0750; d/b 0755 =B; l ->/abs; e/; p |fifo"},
		{"suid and sgid stay", "a 04755; d/ 02775; b 02711", nil, nil, "a 04755; d/ 02775; b 02711"},
		{"only what is followed", "a =A; d/b =B; d/c =C", []string{"d/b"}, nil, "d/; d/b =B"},
		{"followed wildcards", "bin/a; bin/b; bin/c.x; d/e", []string{"bin/*.x", "nope/*.y"}, nil, "bin/; bin/c.x"},
		{"followed links bring their targets", "l ->d/m; d/m ->/e/f; e/f =F; e/g", []string{"l"}, nil, "l ->d/m; d/; d/m ->/e/f; e/; e/f =F"},
		{"links out are clamped", "l ->../../f; f =F; g", []string{"l"}, nil, "l ->../../f; f =F"},
		{"nothing there", "a", []string{"nope"}, nil, ""},
		{"ignored", "a =A; bin/x; bin/y; c.log; d/c.log", nil, []string{"bin", "**/*.log"}, "a =A; d/"},
		{"exceptions", "a; bin/x =X; bin/y", nil, []string{"**", "!bin/x"}, "bin/; bin/x =X"},
		{"the last pattern wins", "bin/x", nil, []string{"!bin/x", "bin"}, ""},
		{"an ignored target dangles", "l ->f; f", []string{"l"}, []string{"f"}, "l ->f"},
		{"hard links", "a =A; d/b ^a; z ^a", nil, nil, "a =A; d/; d/b ^a; z ^a"},
		{"hard links among what is sent", "a =A; d/b ^a; z ^a", nil, []string{"a"}, "d/; d/b =A; z ^d/b"},
		{"a hard link alone", "a =A; z ^a", []string{"z"}, nil, "z =A"},
		{"no whole context by accident", "a; b", []string{"a", "b"}, nil, "a; b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root, _ := checkout(t, lines(tc.files)...)
			tree, err := Context(t.Context(), root, tc.follow, tc.exclude)
			if err != nil {
				t.Fatal(err)
			}
			holds(t, tree, lines(tc.want)...)
		})
	}
}

func TestContextTurnsSocketsIntoFiles(t *testing.T) {
	root, dir := checkout(t)
	// A socket's path is short; a temporary directory's need not be.
	t.Chdir(dir)
	l, err := net.Listen("unix", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod("s", 0o640); err != nil {
		t.Fatal(err)
	}
	tree, err := Context(t.Context(), root, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, tree, "s 0640")
}

func TestContextReadsFilesLate(t *testing.T) {
	root, dir := checkout(t, "same =one", "longer =one", "gone =one", "link =one", "inside =one", "fifo =one")
	tree, err := Context(t.Context(), root, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	for _, do := range []error{
		os.WriteFile(secret, []byte("two"), 0o644),
		os.WriteFile(filepath.Join(dir, "same"), []byte("two"), 0o644),
		os.WriteFile(filepath.Join(dir, "longer"), []byte("three"), 0o644),
		os.Remove(filepath.Join(dir, "gone")),
		os.Remove(filepath.Join(dir, "link")),
		os.Symlink(secret, filepath.Join(dir, "link")),
		os.Remove(filepath.Join(dir, "inside")),
		os.Symlink("same", filepath.Join(dir, "inside")),
		os.Remove(filepath.Join(dir, "fifo")),
		syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644),
	} {
		if do != nil {
			t.Fatal(do)
		}
	}
	for name, want := range map[string]string{
		"same": "", "longer": "changed while it was used", "gone": "no such file", "link": "", "inside": "", "fifo": "changed while it was used",
	} {
		r, err := tree.Open(name)
		if name == "link" || name == "inside" {
			if err == nil {
				t.Error("a link that took a file's place was followed")
			}
			continue
		}
		if fails(t, err, want); err == nil {
			r.Close()
		}
	}
}

func TestContextErrors(t *testing.T) {
	root, dir := checkout(t, "d/f", "a")
	if _, err := Context(t.Context(), root, nil, []string{"["}); err == nil {
		t.Error("a broken pattern is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Context(ctx, root, nil, nil); err == nil {
		t.Error("a cancelled walk is no error")
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(filepath.Join(dir, "d"), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(dir, "d"), 0o755)
		_, err := Context(t.Context(), root, nil, nil)
		fails(t, err, "permission denied")
		_, err = Context(t.Context(), root, nil, []string{"d"})
		fails(t, err, "")
	}
}

// An error that is fs.ErrNotExist would be taken for a file that vanished.
func TestContextKeepsItsOwnErrors(t *testing.T) {
	_, err := collect(t.Context(), oddFS{}, nil)
	fails(t, err, "file does not exist")
}

// oddFS sends a hard link to what it never sent.
type oddFS struct{ sentFS }

func TestContextLeavesItsRootOpen(t *testing.T) {
	root, _ := checkout(t, "a =A")
	for range 2 {
		tree, err := Context(t.Context(), root, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, tree, "a =A")
	}
}

func TestContextThenCopyKeepsNoTime(t *testing.T) {
	root, _ := checkout(t, "d/f =F")
	tree, err := Context(t.Context(), root, []string{"d"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := Tree{}.Edit()
	if err := Copy(t.Context(), e, tree, asCOPY(CopySpec{Src: "d", Dest: "/x"})); err != nil {
		t.Fatal(err)
	}
	_ = e.Tree().Walk("/", func(p string, n *Node) error {
		if !n.ModTime.Equal(time.Time{}) {
			t.Errorf("%s has time %v", p, n.ModTime)
		}
		return nil
	})
	if got := strings.Join(listing(t, e.Tree()), "; "); got != "x/; x/f =F" {
		t.Error(got)
	}
}

type sentFS struct{}

func (sentFS) Open(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist }

func (sentFS) Walk(ctx context.Context, target string, fn fs.WalkDirFunc) error {
	st := &types.Stat{Path: "b", Mode: 0o644, Linkname: "a"}
	if err := fn("b", &fsutil.DirEntryInfo{Stat: st}, nil); !errors.Is(err, fs.ErrNotExist) {
		return err // as fsutil does
	}
	return nil
}
