package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/dockerfile"
	"github.com/archmage-go/archmage/build/image"
	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/rootfs"
)

// here is what lies in the context when a Dockerfile is judged, and later what
// is there in addition when the image is built. What ends in a slash is a link's
// target.
var (
	here = map[string]string{
		"a": "0644", "b": "0755", "d/x": "0600", "d/y": "0755", "d/s/z": "0644", "l": "->a", "ld": "->d", "gone": "->nowhere",
		"d/up": "->../a", "d/abs": "->/etc/x", "r/usr/bin/r": "0755", "r/bin": "->usr/bin", "r/opt": "->/usr", "e/passwd": "0644",
		"bin/app-linux-amd64": "0600", "bin/tool": "0755", "ignored": "0644",
	}
	later = map[string]string{
		"made": "0755", "d/made": "0700", "d/s/made": "->z", "r/usr/bin/made": "0755", "r/data": "->usr", "out/x": "0644", "out/d/y": "0755",
		"bin/app-linux-amd64": "0755", "base/bin": "->usr/bin", "base/usr/bin/sh": "0755", "base/srv": "->opt/srv", "base/d/x": "0700",
		"base/w/a/f": "0644", "ran/usr/bin/app": "0755", "ran/d": "->w", "ran/w/q": "0644", "ran/app/k": "0644",
	}
)

func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, what := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(p), 0o755)
		if to, link := strings.CutPrefix(what, "->"); link {
			err = errors.Join(err, os.Symlink(to, p))
		} else {
			var mode fs.FileMode
			_, scan := fmt.Sscanf(what, "%o", &mode)
			err = errors.Join(err, scan, os.WriteFile(p, []byte("x"), 0o600), os.Chmod(p, mode))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// randomFile makes a Dockerfile: as it is judged, and one without RUN and bases that
// stands for what these may do.
func randomFile(r *rand.Rand) (judged, built string) {
	built = "FROM scratch AS base\nCOPY base/ /\n"
	both := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		judged, built = judged+text, built+text
	}
	stages := 1 + r.IntN(3)
	for s := range stages {
		from := pick(r, "scratch", "scratch", "scratch", "base")
		if s > 0 {
			from = pick(r, "scratch", "scratch", fmt.Sprint("s", r.IntN(s)))
		}
		both("FROM %s AS s%d\n", from, s)
		for range 1 + r.IntN(5) {
			flags := pick(r, "", "", "", "--chmod=0640 ", "--chmod=755 ", "--chmod=u=rwX,go= ", "--chown=7:8 ", "--link ")
			switch k := r.IntN(12); {
			case k == 0:
				both("WORKDIR %s\n", pick(r, "/w", "/w/a", "rel", "/d"))
			case k == 1:
				judged, built = judged+"RUN x\n", built+"COPY ran/ /\n"
			case k == 2:
				both("ADD %s%s %s\n", strings.Replace(flags, "--link ", "", 1), someSource(r), somewhere(r))
			case k < 6 && s > 0:
				both("COPY %s--from=s%d %s %s\n", flags, r.IntN(s), pick(r, "/", "/w", "/w/a", "/d", "/app", "/usr/bin", "/usr/bin/app", "/w/*"), somewhere(r))
			default:
				both("COPY %s%s %s\n", flags, someSource(r), somewhere(r))
			}
		}
	}
	return judged, built
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

func someSource(r *rand.Rand) string {
	return pick(r, "a", "b", "d", "d/", "d/s", "d/x", "d/y", "l", "ld", "ld/x", "d/up", "r/", "r", "bin/app-linux-amd64", "bin/", "bin/tool",
		"made", "d/made", "out/", "out/x", "a b", "d/* a", "*a*", ".", "--exclude=x d", "e/passwd", "--parents d/s/z", "--parents d/*")
}

func somewhere(r *rand.Rand) string {
	return pick(r, "/", "/app", "/app/", "/w/", "/w", "/w/a/", "/usr/bin/app", "/bin/app", "/bin/", "/d/", "/d", "./", "rel", "/opt/x/", "/data/f", "/etc/")
}

// What is absent for sure is not in the image, and what is present is there with
// that mode and owner, as the native engine builds it, whatever bases and RUN do
// and whatever is made in the context before.
func TestWhatIsSureIsSo(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	lay(t, before, here)
	all := map[string]string{}
	for _, files := range []map[string]string{here, later} {
		for name, what := range files {
			all[name] = what
		}
	}
	lay(t, after, all)
	root, err := os.OpenRoot(before)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	blobs, err := image.NewBlobs(t.TempDir(), rootfs.Indexes{})
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()

	rnd := rand.New(rand.NewPCG(3, 4))
	sure := map[presence]int{}
	for range 60 {
		judged, built := randomFile(rnd)
		w, ok := evaluate(t, after, built)
		if !ok {
			continue
		}
		img, err := image.Native{Blobs: blobs}.Build(context.Background(), image.Request{Recipe: w, Context: after})
		if err != nil {
			continue
		}
		tree := treeOf(t, img)
		r, ok := evaluate(t, before, judged)
		if !ok {
			continue
		}
		s := Subject{Image: "app", Root: root.FS(), Dir: root, Recipes: []*dockerfile.Recipe{r}, Bin: "bin/{name}-{os}-{arch}{variant}", Commands: []string{"app"}}
		var c contexts
		result := newState(s, newBinaries(s)).reading(&c).results()[0]
		open := strings.Contains(judged, "RUN") || strings.Contains(judged, "FROM base") || result.tree.ground.any // where what is there may be elsewhere
		for _, p := range probes(rnd, tree) {
			f := result.find(p)
			sure[f.is]++
			compare(t, tree, p, f, open)
		}
		c.close()
		if t.Failed() {
			t.Fatalf("of\n%s\nbuilt as\n%s", judged, built)
		}
	}
	t.Log(sure)
	if sure[absent] < 100 || sure[present] < 100 || sure[unknowable] < 100 {
		t.Errorf("few answers: %v", sure)
	}
}

func evaluate(t *testing.T, dir, text string) (*dockerfile.Recipe, bool) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".dockerignore"), []byte("ignored\nDockerfile\n.dockerignore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := dockerfile.Evaluate(context.Background(), dockerfile.Input{Root: dir, Context: dir, Dockerfile: "Dockerfile", Platform: platform.Platform{OS: "linux", Arch: "amd64"}})
	return r, err == nil
}

func treeOf(t *testing.T, img v1.Image) rootfs.Tree {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	var tree rootfs.Tree
	for _, l := range layers {
		r, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		entries, err := rootfs.ReadLayer(r, func(int64, int64) rootfs.Content { return nil })
		if err == nil {
			tree, err = tree.Apply(entries)
		}
		if err = errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// probes are all paths of a tree, and some that may be in it.
func probes(r *rand.Rand, tree rootfs.Tree) []string {
	var list []string
	_ = tree.Walk("/", func(p string, _ *rootfs.Node) error {
		list = append(list, p)
		return nil
	})
	for range 40 {
		list = append(list, path.Join(somewhere(r), pick(r, "", "a", "x", "s/z", "made", "app", "d/x", "usr/bin/r", "../a", "app-linux-amd64", "z", "up", "bin/app")))
	}
	return list
}

func compare(t *testing.T, tree rootfs.Tree, p string, f found, open bool) {
	t.Helper()
	p = path.Join("/", p)
	n, err := tree.Stat(p)
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, rootfs.ErrTooManyLinks)
	switch {
	case f.is == absent && !gone:
		t.Errorf("%s is taken for absent, and is there: %v %v", p, n, err)
	case f.is == present && !open && (err != nil || n.Mode != f.node.Mode || n.UID != f.node.UID || n.GID != f.node.GID):
		t.Errorf("%s is taken for %v %d:%d, and is %+v %v", p, f.node.Mode, f.node.UID, f.node.GID, n, err)
	}
}
