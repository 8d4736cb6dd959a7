package image

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/archmage-go/archmage/build/rootfs"
)

func TestWhatNeedsAnEngineIsRefusedWithItsPlace(t *testing.T) {
	n := newNative(t)
	for text, want := range map[string]string{
		"FROM scratch\nCOPY a /\n\nRUN  x\nRUN y\n":                                      "Dockerfile:4: RUN needs an engine",
		"FROM scratch\nADD https://github.com/a/b.git#main /x\n":                         "Dockerfile:2: a git source needs an engine",
		"# syntax=example.com/own:1\nFROM scratch\n":                                     "Dockerfile:1: a front end of its own needs an engine",
		"FROM scratch AS b\nRUN x\nFROM scratch\nCOPY --from=b / /\n":                    "Dockerfile:2: RUN needs an engine",
		"FROM scratch AS b\nCOPY a /\nFROM b\nENV A=1\nRUN --mount=from=b,target=/m :\n": "Dockerfile:5: RUN needs an engine",
	} {
		err := n.fails(t, plant(t, map[string]string{"a": "1"}), text)
		var engine *NeedsEngineError
		if !errors.As(err, &engine) || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		} else if engine.Hint() != "docker buildx and buildah build it: leave IMAGE_ENGINE at auto" {
			t.Errorf("hint %s", engine.Hint())
		}
	}
	n.build(t, plant(t, map[string]string{"a": "1"}), "FROM scratch AS unused\nRUN x\nFROM scratch\nCOPY a /\n")
}

// meddle builds a recipe from a context that was changed after it was evaluated.
func meddle(t *testing.T, text string, change func(dir string) error) (*native, error) {
	t.Helper()
	n := newNative(t)
	dir := plant(t, map[string]string{"a": "1", "big": string(noise(3 << 20)), "d/b": "2"})
	r := n.request(t, dir, text)
	must(t, change(dir))
	img, err := n.Build(t.Context(), r)
	if err == nil || img != nil {
		t.Fatalf("built %v, error %v", img, err)
	}
	if left := leftovers(t, n.Blobs); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	return n, err
}

func TestAFileThatVanishedIsAnErrorWithItsPlace(t *testing.T) {
	_, err := meddle(t, "FROM scratch\n\nCOPY a /x\n", func(dir string) error { return os.Remove(filepath.Join(dir, "a")) })
	says(t, err, "Dockerfile:3: ")
	says(t, err, "/a")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	_, err = meddle(t, "FROM scratch\nCOPY a /x\n", os.RemoveAll)
	says(t, err, "no such file")
}

// Trees are listed at the beginning and read at the end.
func TestAFileThatChangesWhileItIsUsedIsAnError(t *testing.T) {
	for name, change := range map[string]func(string) error{
		"gone":    os.Remove,
		"shorter": func(p string) error { return os.Truncate(p, 1<<20) },
		"longer": func(p string) error {
			f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.Write([]byte("x"))
			return errors.Join(err, f.Close())
		},
		"a directory": func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) },
		"a link":      func(p string) error { return errors.Join(os.Remove(p), os.Symlink("a", p)) },
		"unreadable as it leads out": func(p string) error {
			return errors.Join(os.Remove(p), os.Symlink("/etc/passwd", p))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNative(t)
			dir := plant(t, map[string]string{"a": "1", "big": string(noise(3 << 20))})
			r := n.request(t, dir, "FROM scratch\nCOPY a /a\nCOPY big /x/y\n")
			x := newExecutor(n.Native, r)
			s := value[snapshot](t)(x.run(t.Context()))
			must(t, change(filepath.Join(dir, "big")))
			_, err := n.layers(t.Context(), s, r)
			must(t, x.close())
			says(t, err, "Dockerfile:3: write /x/y: ")
			says(t, err, "big")
			if left := leftovers(t, n.Blobs); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestAnInterruptedBuildLeavesNothing(t *testing.T) {
	stopped := errors.New("stopped")
	n := newNative(t)
	ref := n.push(t, "base", tarLayer(t, "etc/", "etc/x=1"))
	dir := plant(t, map[string]string{"big": string(noise(3 << 20))})
	for _, text := range []string{
		"FROM scratch\nCOPY big /x\n",
		"FROM " + ref + "\nCOPY big /x\n",
		"FROM scratch\nCOPY --from=" + ref + " /etc /etc\n",
	} {
		r := n.request(t, dir, text)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stopped)
		img, err := n.Build(ctx, r)
		if !errors.Is(err, stopped) && !errors.Is(err, context.Canceled) || img != nil {
			t.Errorf("%q: %v, error %v", text, img, err)
		}
		if left := leftovers(t, n.Blobs); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
}

// In the middle of a layer: after its first file was read.
func TestALayerThatIsInterruptedLeavesNothing(t *testing.T) {
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	n := newNative(t)
	e := rootfs.Tree{}.Edit()
	data := rootfs.Bytes(noise(4 << 20))
	must(t, e.Put("/a", &rootfs.Node{Mode: 0o644, Size: int64(len(data)), Data: opening{data, func() { cancel(stopped) }}}))
	must(t, e.Put("/b", &rootfs.Node{Mode: 0o644, Size: int64(len(data)), Data: data}))
	s := snapshot{}.add(pending{where: "Dockerfile:2"}, rootfs.Tree{}, e.Tree())
	_, err := n.layers(ctx, s, Request{})
	if !errors.Is(err, stopped) {
		t.Errorf("error %v", err)
	}
	says(t, err, "Dockerfile:2: write /a: stopped")
	if left := value[[]os.DirEntry](t)(os.ReadDir(n.Blobs.dir)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

type opening struct {
	rootfs.Content
	done func()
}

func (o opening) Open() (io.ReadCloser, error) {
	o.done()
	return o.Content.Open()
}

// A hostile base is refused by the engine as a whole, naming layer and place.
func TestABombInABaseEndsTheBuild(t *testing.T) {
	n := newNative(t)
	n.Blobs.layerBound = bound{floor: 1 << 20, ratio: 1, most: 1 << 30}
	l := tarLayer(t, "etc/", "etc/x="+strings.Repeat("\x00", 8<<20))
	ref := n.push(t, "base", l)
	err := n.fails(t, plant(t, map[string]string{"a": "1"}), "FROM "+ref+"\nCOPY a /etc/\n")
	says(t, err, "Dockerfile:2: layer "+digestOf(t, l)+": read layer after entry \"etc/x\": more than 1")
	n.build(t, plant(t, map[string]string{"a": "1"}), "FROM "+ref+"\nCOPY --link a /etc/\n") // needs none of it
}
