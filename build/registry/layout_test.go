package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	ggcrlayout "github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/archmage-go/archmage/build/files"
)

func put(t *testing.T, r Repository, tag string, img v1.Image) string {
	t.Helper()
	d, err := r.PutImage(t.Context(), tag, img)
	if err != nil {
		t.Fatal(err)
	}
	return d.Digest.String()
}

func blobFiles(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "blobs", "sha256"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func hexOf(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

func TestALayoutThatIsNotThereIsEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist", "app")
	l := OpenLayout(dir, dir)
	if _, err := l.Head(t.Context(), "v1"); !errors.Is(err, ErrAbsent) || err.Error() != "read "+dir+":v1: absent" {
		t.Error(err)
	}
	if tags, err := l.Tags(t.Context()); err != nil || len(tags) != 0 {
		t.Errorf("%q, %v", tags, err)
	}
	if err := l.HasBlob(t.Context(), "sha256:"+strings.Repeat("0", 64)); !errors.Is(err, ErrAbsent) {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("reading made the directory")
	}
}

func TestALayoutRoundTrip(t *testing.T) {
	dir := t.TempDir()
	l := OpenLayout(dir, dir)
	arm, amd := testImage(t, "linux/arm/v7", "shared", "arm"), testImage(t, "linux/amd64", "shared", "amd")
	put(t, l, "v1-armv7", arm)
	put(t, l, "v1-amd64", amd)
	index := putIndex(t, l, "v1", testIndex(t, map[string]v1.Image{"linux/arm/v7": arm, "linux/amd64": amd}, "linux/amd64", "linux/arm/v7"))

	if tags, err := l.Tags(t.Context()); err != nil || !slices.Equal(tags, []string{"v1", "v1-amd64", "v1-armv7"}) {
		t.Errorf("%q, %v", tags, err)
	}
	if m, err := l.Manifest(t.Context(), "v1"); err != nil || m.Digest.String() != index || !m.MediaType.IsIndex() {
		t.Errorf("%+v, %v", m, err)
	}
	back, err := l.Image(t.Context(), digest(t, arm))
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, back)
	// Another reader of layouts agrees.
	other, err := ggcrlayout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, img := range []v1.Image{arm, amd} {
		if again, err := other.Image(must(img.Digest())(t)); err != nil {
			t.Error(err)
		} else {
			checkImage(t, again)
		}
	}
	m, _ := other.IndexManifest()
	if len(m.Manifests) != 3 || m.Manifests[0].Annotations[refName] != "v1" || m.Manifests[2].Platform.String() != "linux/arm/v7" {
		t.Errorf("%+v", m.Manifests)
	}
}

func TestALegReplacesItsOwnEntryAndTakesItsBlobsAlong(t *testing.T) {
	dir := t.TempDir()
	l := OpenLayout(dir, dir)
	old := testImage(t, "linux/amd64", "shared", "old")
	put(t, l, "v1-amd64", old)
	put(t, l, "v1-arm64", testImage(t, "linux/arm64", "shared"))
	renewed := put(t, l, "v1-amd64", testImage(t, "linux/amd64", "shared", "new"))
	if d, err := l.Head(t.Context(), "v1-amd64"); err != nil || d.Digest.String() != renewed {
		t.Errorf("%+v, %v", d, err)
	}
	files := blobFiles(t, dir)
	layers := mustLayers(t, old)
	for _, gone := range []string{digest(t, old), digest(t, layers[1])} {
		if slices.Contains(files, hexOf(gone)) {
			t.Errorf("%s is still there", gone)
		}
	}
	if !slices.Contains(files, hexOf(digest(t, layers[0]))) {
		t.Error("the layer that another leg needs is gone")
	}
	if len(files) != 2+2+2 { // manifests, configs, layers
		t.Errorf("%d blobs: %q", len(files), files)
	}
}

func TestAnIndexKeepsTheLegsItNames(t *testing.T) {
	dir := t.TempDir()
	l := OpenLayout(dir, dir)
	old := testImage(t, "linux/amd64", "old")
	put(t, l, "v1-amd64", old)
	putIndex(t, l, "v1", testIndex(t, map[string]v1.Image{"linux/amd64": old}, "linux/amd64"))
	put(t, l, "v1-amd64", testImage(t, "linux/amd64", "new"))
	back, err := l.Image(t.Context(), digest(t, old))
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, back)
}

func TestWhatAKilledWriterLeftDoesNoHarmAndGoes(t *testing.T) {
	dir := t.TempDir()
	l := OpenLayout(dir, dir)
	put(t, l, "v1", testImage(t, "linux/amd64", "one"))
	blobs := filepath.Join(dir, "blobs", "sha256")
	leave := func(name string, age time.Duration) string {
		path := filepath.Join(blobs, name)
		if err := os.WriteFile(path, []byte("left"), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return name
	}
	goes := []string{leave(files.Prefix+"old", 2*grace), leave("../../"+files.Prefix+"index", 2*grace), leave(strings.Repeat("1", 64), 2*grace)}
	stays := []string{leave(strings.Repeat("2", 64), 0), leave("README", 2*grace)}
	put(t, l, "v2", testImage(t, "linux/amd64", "two"))
	left := blobFiles(t, dir)
	for _, name := range goes {
		if _, err := os.Stat(filepath.Join(blobs, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range stays {
		if !slices.Contains(left, name) {
			t.Errorf("%s is gone", name)
		}
	}
	for _, tag := range []string{"v1", "v2"} {
		if _, err := l.Head(t.Context(), tag); err != nil {
			t.Error(err)
		}
	}
}

func TestAnEmptyFileInABlobsPlaceIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	img := testImage(t, "linux/amd64", "one")
	path := filepath.Join(dir, "blobs", "sha256", hexOf(digest(t, mustLayers(t, img)[0])))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	put(t, OpenLayout(dir, dir), "v1", img)
	if got, _ := os.ReadFile(path); string(got) != "one" {
		t.Errorf("the blob is %q", got)
	}
}

func TestABlobThatGoesAwayMeanwhileIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	l := OpenLayout(dir, dir)
	img := testImage(t, "linux/amd64", "one", "two")
	path := filepath.Join(dir, "blobs", "sha256", hexOf(digest(t, mustLayers(t, img)[0])))
	put(t, l, "v1", pruning{img, path, new(int)})
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	m, err := manifestOf(img)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	if err := l.PutManifest(t.Context(), "v2", m); !errors.Is(err, errPruned) {
		t.Errorf("an entry without its blobs: %v", err)
	}
}

// pruning removes a file after the first layer was written, once.
type pruning struct {
	v1.Image
	path string
	n    *int
}

func (p pruning) Layers() ([]v1.Layer, error) {
	layers, err := p.Image.Layers()
	return []v1.Layer{layers[0], pruningLayer{layers[1], p}}, err
}

type pruningLayer struct {
	v1.Layer
	p pruning
}

func (l pruningLayer) Size() (int64, error) {
	if *l.p.n++; *l.p.n == 1 {
		os.Remove(l.p.path)
	}
	return l.Layer.Size()
}

func TestWritersDoNotLoseEachOthersEntries(t *testing.T) {
	dir := t.TempDir()
	done := make(chan error)
	const writers = 8
	for i := range writers {
		go func() {
			l := OpenLayout(dir, dir) // as another process would
			var err error
			for round := range 5 {
				_, e := l.PutImage(t.Context(), fmt.Sprint("leg", i), testImage(t, "linux/amd64", "shared", fmt.Sprint(i, round)))
				err = errors.Join(err, e)
			}
			done <- err
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	l := OpenLayout(dir, dir)
	tags, err := l.Tags(t.Context())
	if err != nil || len(tags) != writers {
		t.Fatalf("%q, %v", tags, err)
	}
	for _, tag := range tags {
		d, err := l.Head(t.Context(), tag)
		if err != nil {
			t.Fatal(err)
		}
		img, err := l.Image(t.Context(), d.Digest.String())
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, img)
	}
	if n := len(blobFiles(t, dir)); n != 3*writers+1 {
		t.Errorf("%d blobs, want %d", n, 3*writers+1)
	}
}

func TestDamageIsNotAbsence(t *testing.T) {
	dir := t.TempDir()
	l := OpenLayout(dir, dir)
	img := testImage(t, "linux/amd64", "one")
	h := put(t, l, "v1", img)
	blob := func(digest string) string { return filepath.Join(dir, "blobs", "sha256", hexOf(digest)) }
	layer := digest(t, mustLayers(t, img)[0])
	if err := os.WriteFile(blob(layer), []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	back, err := l.Image(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	rc, err := mustLayers(t, back)[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(rc); err == nil {
		t.Error("a changed layer was read")
	}
	if err := os.WriteFile(blob(h), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Manifest(t.Context(), "v1"); err == nil || errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "digest mismatch") {
		t.Errorf("a changed manifest: %v", err)
	}
	os.Remove(blob(h))
	if _, err := l.Manifest(t.Context(), "v1"); err == nil || errors.Is(err, ErrAbsent) {
		t.Errorf("a lost manifest: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Head(t.Context(), "v1"); err == nil || errors.Is(err, ErrAbsent) {
		t.Errorf("a broken index: %v", err)
	}
}

func TestEntriesOfOthersStay(t *testing.T) {
	dir := t.TempDir()
	p, err := ggcrlayout.Write(dir, testIndex(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.AppendImage(testImage(t, "linux/s390x", "foreign")); err != nil {
		t.Fatal(err)
	}
	l := OpenLayout(dir, dir)
	put(t, l, "v1", testImage(t, "linux/amd64", "one"))
	put(t, l, "v1", testImage(t, "linux/amd64", "two"))
	raw, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(raw, &index); err != nil || len(index.Manifests) != 2 {
		t.Errorf("%s, %v", raw, err)
	}
	foreign, err := must(ggcrlayout.ImageIndexFromPath(dir))(t).Image(must(testImage(t, "linux/s390x", "foreign").Digest())(t))
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, foreign)
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
