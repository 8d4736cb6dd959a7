package image

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/archmage-go/archmage/build/cache"
	"github.com/archmage-go/archmage/build/dockerfile"
)

// The promise of the package: inputs decide, nothing of the machine does.
func TestTheSameInputsGiveTheSameDigest(t *testing.T) {
	big := string(noise(3<<20)) + strings.Repeat("text ", 500_000)
	files := map[string]string{"a": "1", "bin/app": big, "d/b": "2", "d/c/e": "3"}
	const text = "FROM scratch\nCOPY bin/app /usr/bin/\nCOPY d a /d/\nWORKDIR /w\nCOPY . /all/\nENTRYPOINT [\"/usr/bin/app\"]\n"
	for _, format := range []Format{{}, {Docker: true}, {Zstd: true}} {
		digests := map[string]bool{}
		for i, procs := range []int{1, 8, 3} {
			n := newNative(t) // other blobs, at another path
			dir := plant(t, files)
			r := n.request(t, dir, text)
			at := time.Unix(int64(1_600_000_000+i), int64(i))
			must(t, filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Chtimes(p, at, at))
			}))
			r.Format = format
			r.Annotations = map[string]string{"a": "1", "b": "2", "c": "3"}
			before := runtime.GOMAXPROCS(procs)
			img := value[v1.Image](t)(n.Build(t.Context(), r))
			runtime.GOMAXPROCS(before)
			digests[digestOf(t, img)] = true
			intact(t, img)
		}
		if len(digests) != 1 {
			t.Errorf("%+v: %v", format, digests)
		}
	}
}

// A memory of earlier runs saves work, and decides nothing: not where it holds
// everything, not where a file was changed in place and given its old time.
func TestWhatIsRememberedChangesNoDigest(t *testing.T) {
	dir, facts := plant(t, map[string]string{"bin/app": "some data", "d/b": "2"}), t.TempDir()
	const text = "FROM scratch\nCOPY bin/app /app\nCOPY --chmod=0700 d /d\nCOPY <<x /x\nhello\nx\n"
	build := func(facts string) string {
		n := newNative(t)
		n.Blobs.Facts, n.Blobs.settling = cache.Store{Dir: facts}, 10*time.Millisecond
		img := n.build(t, dir, text)
		intact(t, img)
		return digestOf(t, img)
	}
	app := filepath.Join(dir, "bin/app")
	at := time.Unix(1_600_000_000, 0)
	for _, data := range []string{"some data", "same size", "same size", "some data"} {
		must(t, errors.Join(os.WriteFile(app, []byte(data), 0o755), os.Chtimes(app, at, at)))
		cold := build("")
		for range 3 {
			if got := build(facts); got != cold {
				t.Fatalf("%s: %s, without a memory %s", data, got, cold)
			}
		}
	}
}

func TestModesAreInputs(t *testing.T) {
	n := newNative(t)
	dir := plant(t, map[string]string{"a": "1"})
	one := digestOf(t, n.build(t, dir, "FROM scratch\nCOPY a /a\n"))
	must(t, os.Chmod(filepath.Join(dir, "a"), 0o755))
	if other := digestOf(t, n.build(t, dir, "FROM scratch\nCOPY a /a\n")); other == one {
		t.Error("a file that became executable is the same image")
	}
}

// An instruction that changes nothing keeps its layer, as in BuildKit.
func TestAnInstructionThatChangesNothingHasAnEmptyLayer(t *testing.T) {
	n := newNative(t)
	ref := n.push(t, "base", tarLayer(t, "etc/", "etc/x=1"))
	img := n.build(t, plant(t, nil), "FROM "+ref+"\nWORKDIR /etc\nCOPY *.nope /x\n")
	layers := layersOf(t, img)
	if len(layers) != 3 {
		t.Fatalf("%d layers", len(layers))
	}
	for _, l := range layers[1:] {
		if id := value[v1.Hash](t)(l.DiffID()).String(); id != emptyDiffID {
			t.Errorf("diff ID %s of %q", id, listing(t, l))
		}
	}
	config := value[*v1.ConfigFile](t)(img.ConfigFile())
	for i, h := range config.History {
		if h.EmptyLayer {
			t.Errorf("line %d, %s, has a layer", i, h.CreatedBy)
		}
	}
}

func TestLinkedCopiesNeverOpenTheBase(t *testing.T) {
	n := newNative(t)
	l := tarLayer(t, "etc/", "etc/x=1")
	ref := n.push(t, "base", l)
	dir := plant(t, map[string]string{"a": "1"})
	img := n.build(t, dir, "FROM "+ref+"\nCOPY --link a /etc/a\nENV A=1\nCOPY --link a /b\n")
	if got := n.registry.reads(t, l); got != 0 {
		t.Errorf("read %d times", got)
	}
	layers := layersOf(t, img)
	if len(layers) != 3 || digestOf(t, layers[0]) != digestOf(t, l) {
		t.Fatalf("%d layers, the first is %s", len(layers), digestOf(t, layers[0]))
	}
	same(t, listing(t, layers[1]), "etc/ 755 0:0 @0", "etc/a 644 0:0 @0 =1")
	same(t, listing(t, layers[2]), "b 644 0:0 @0 =1")
}

// What follows a merge sees all of it.
func TestAMergeIsFoldedWhenItsTreeIsNeeded(t *testing.T) {
	n := newNative(t)
	l := tarLayer(t, "etc/", "etc/x=1", "lib->usr/lib", "usr/", "usr/lib/")
	ref := n.push(t, "base", l)
	dir := plant(t, map[string]string{"a": "1"})
	img := n.build(t, dir, "FROM "+ref+"\nCOPY --link a /opt/\nCOPY a /lib/\nCOPY a /opt/b\n")
	layers := layersOf(t, img)
	same(t, listing(t, layers[2]), "usr/ 755 0:0 @0", "usr/lib/ 755 0:0 @0", "usr/lib/a 644 0:0 @0 =1")
	same(t, listing(t, layers[3]), "opt/ 755 0:0 @0", "opt/b 644 0:0 @0 =1")
	if got := n.registry.reads(t, l); got != 1 {
		t.Errorf("read %d times", got)
	}
}

func TestConfigAloneNeverOpensTheBase(t *testing.T) {
	n := newNative(t)
	l := tarLayer(t, "etc/")
	img := n.build(t, plant(t, nil), "FROM "+n.push(t, "base", l)+"\nENV A=1\nWORKDIR /\n")
	if got := n.registry.reads(t, l); got != 0 || len(layersOf(t, img)) != 1 {
		t.Errorf("read %d times, %d layers", got, len(layersOf(t, img)))
	}
}

// The content of a layer is read again only for COPY --from, and only of the
// layer that has the file.
func TestCopiesFromABaseOpenOnlyWhatTheyTake(t *testing.T) {
	n := newNative(t)
	lower, upper := tarLayer(t, "etc/", "etc/x=lower"), tarLayer(t, "etc/", "etc/y=upper")
	ref := n.push(t, "base", lower, upper)
	for i, tt := range []struct {
		text         string
		lower, upper int // reads, headers included
	}{
		{"FROM " + ref + "\nCOPY a /etc/a\n", 1, 1},
		{"FROM scratch\nCOPY --from=" + ref + " /etc/y /y\n", 1, 2},
		{"FROM scratch\nCOPY --from=" + ref + " /etc /etc\n", 2, 2},
		{"FROM " + ref + " AS base\nFROM scratch\nCOPY --from=base /etc/x /x\nCOPY --from=base /etc/x /z\n", 2, 1},
	} {
		before := [2]int{n.registry.reads(t, lower), n.registry.reads(t, upper)}
		n.build(t, plant(t, map[string]string{"a": "1"}), tt.text)
		after := [2]int{n.registry.reads(t, lower), n.registry.reads(t, upper)}
		if got := [2]int{after[0] - before[0], after[1] - before[1]}; got != [2]int{tt.lower, tt.upper} {
			t.Errorf("%d: read %v, want %d and %d", i, got, tt.lower, tt.upper)
		}
	}
	img := n.build(t, plant(t, nil), "FROM scratch\nCOPY --from="+ref+" /etc /etc\n")
	same(t, top(t, img), "etc/ 755 0:0 @0", "etc/x 644 0:0 @0 =lower", "etc/y 644 0:0 @0 =upper")
}

func TestAnImageWithNothingFromNowhere(t *testing.T) {
	n := newNative(t)
	r := n.request(t, plant(t, nil), "FROM scratch\nLABEL a=b\n")
	if r.Recipe.Result != dockerfile.Scratch {
		t.Fatalf("result %d", r.Recipe.Result)
	}
	img := value[v1.Image](t)(n.Build(t.Context(), r))
	if len(layersOf(t, img)) != 0 || len(leftovers(t, n.Blobs)) != 0 {
		t.Error("has layers")
	}
}
