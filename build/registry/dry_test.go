package registry

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	ggcr "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	ggcrremote "github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// recorded is a registry that remembers the methods of its requests.
func recorded(t *testing.T) (host string, methods func() []string) {
	t.Helper()
	var mu sync.Mutex
	var list []string
	handler := ggcr.New()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		list = append(list, req.Method)
		mu.Unlock()
		handler.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

// A dry run tells what it would write, reads it back, and writes nothing.
func TestDryRunTellsAndWritesNothing(t *testing.T) {
	host, methods := recorded(t)
	var told []string
	dry := &DryRun{Instead: func(w Change) { told = append(told, w.Do) }}
	c := New(Options{DryRun: dry})
	repo, err := c.Open(host+"/org/app", Write)
	if err != nil {
		t.Fatal(err)
	}
	for _, repo := range []Repository{repo, dry.Of(OpenLayout(t.TempDir()+"/dist/app", "dist/app"))} {
		told = nil
		rehearse(t, repo)
		if want := []string{"upload", "upload", "put", "put"}; !slices.Equal(told, want) {
			t.Errorf("%s: told %v, want %v", repo.Name(), told, want)
		}
	}
	for _, m := range methods() {
		if m != http.MethodGet && m != http.MethodHead {
			t.Errorf("the registry got a %s", m)
		}
	}
}

// rehearse puts an image of one layer, twice, and its index; and reads all back.
func rehearse(t *testing.T, repo Repository) {
	t.Helper()
	ctx := context.Background()
	img, err := random.Image(100, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Head(ctx, "v1"); !errors.Is(err, ErrAbsent) {
		t.Errorf("before: %v", err)
	}
	d, err := repo.PutImage(ctx, "v1", mutate.MediaType(img, types.OCIManifestSchema1))
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"v1", d.Digest.String()} {
		if got, err := repo.Head(ctx, ref); err != nil || got.Digest != d.Digest {
			t.Errorf("%s reads back as %v, %v", ref, got.Digest, err)
		}
	}
	m, err := repo.Manifest(ctx, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.PutManifest(ctx, "latest", m); err != nil {
		t.Fatal(err)
	}
	config, _ := img.ConfigName()
	if err := repo.HasBlob(ctx, config.String()); err != nil {
		t.Errorf("the config is not there: %v", err)
	}
	if err := repo.PutManifest(ctx, "not a tag", m); err == nil {
		t.Error("what the run would refuse is told")
	}
}

// What another repository of the registry has is mounted.
func TestDryRunTellsOfMounts(t *testing.T) {
	var told []string
	dry := &DryRun{Instead: func(c Change) { told = append(told, c.String()) }}
	layer, err := random.Layer(10, types.OCILayer)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := layer.Digest()
	from, err := name.NewDigest("localhost:1/org/from@" + h.String())
	if err != nil {
		t.Fatal(err)
	}
	to, err := New(Options{DryRun: dry}).Open("localhost:1/org/to", Write)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // it is there after the first
		if err := to.(*dryRepository).tell(&ggcrremote.MountableLayer{Layer: layer, Reference: from}, h); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"localhost:1/org/to@" + h.String() + " from org/from"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// What goes around the seam fails rather than writes.
func TestDryRunSendsNoOtherWrite(t *testing.T) {
	host, methods := recorded(t)
	repo, err := New(Options{DryRun: &DryRun{}}).Open(host+"/org/app", Write)
	if err != nil {
		t.Fatal(err)
	}
	img, _ := random.Image(100, 1)
	if _, err := repo.(*dryRepository).Repository.PutImage(context.Background(), "v1", img); !errors.Is(err, errDryRun) {
		t.Errorf("got %v", err)
	}
	if slices.Contains(methods(), http.MethodPost) || slices.Contains(methods(), http.MethodPut) {
		t.Errorf("the registry got %v", methods())
	}
}
