package main

import (
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func TestDeletedTagsStayDeleted(t *testing.T) {
	dir := t.TempDir()
	host, stop := start(t, dir)
	app := repo(t, host, "app")
	for _, tag := range []string{"v1", "v2"} {
		if _, err := app.PutImage(t.Context(), tag, image(t, tag)); err != nil {
			t.Fatal(err)
		}
	}
	if code, body := do(t, "DELETE", "http://"+host+"/v2/app/manifests/v1", ""); code != 202 {
		t.Errorf("%d %s", code, body)
	}
	stop()
	host, _ = start(t, dir)
	if tags, err := repo(t, host, "app").Tags(t.Context()); err != nil || !slices.Equal(tags, []string{"v2"}) {
		t.Errorf("%q, %v", tags, err)
	}
}

func TestAManifestIsDeletedWithItsTags(t *testing.T) {
	dir := t.TempDir()
	host, stop := start(t, dir)
	app := repo(t, host, "app")
	d, err := app.PutImage(t.Context(), "v1", image(t, "one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.PutImage(t.Context(), "v2", image(t, "two")); err != nil {
		t.Fatal(err)
	}
	one := "/v2/app/manifests/" + d.Digest.String()
	if code, body := do(t, "DELETE", "http://"+host+one, ""); code != 202 {
		t.Errorf("%d %s", code, body)
	}
	if code, body := do(t, "DELETE", "http://"+host+one, ""); code != 404 {
		t.Errorf("again: %d %s", code, body)
	}
	for range 2 { // before and after a restart
		if tags, err := repo(t, host, "app").Tags(t.Context()); err != nil || !slices.Equal(tags, []string{"v2"}) {
			t.Errorf("%q, %v", tags, err)
		}
		if code, _ := do(t, "GET", "http://"+host+one, ""); code != 404 {
			t.Errorf("the manifest: %d", code)
		}
		stop()
		host, stop = start(t, dir)
	}
}

func TestAnIndexOutlivesItsImages(t *testing.T) {
	dir := t.TempDir()
	host, stop := start(t, dir)
	app := repo(t, host, "app")
	img := image(t, "one")
	d, err := app.PutImage(t.Context(), "v1", img)
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{Add: img})
	if err := app.PutManifest(t.Context(), "all", manifest(t, index, types.OCIImageIndex)); err != nil {
		t.Fatal(err)
	}
	if code, body := do(t, "DELETE", "http://"+host+"/v2/app/manifests/"+d.Digest.String(), ""); code != 202 {
		t.Errorf("%d %s", code, body)
	}
	stop()
	host, _ = start(t, dir)
	if code, body := do(t, "GET", "http://"+host+"/v2/app/manifests/all", ""); code != 200 {
		t.Errorf("the index: %d %s", code, body)
	}
	for _, gone := range []string{d.Digest.String(), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"} {
		if code, body := do(t, "GET", "http://"+host+"/v2/app/manifests/"+gone, ""); code != 404 {
			t.Errorf("%s: %d %s", gone, code, body)
		}
	}
}

func TestBlobsCannotBeDeleted(t *testing.T) {
	host, _ := start(t, t.TempDir())
	if _, err := repo(t, host, "app").PutImage(t.Context(), "v1", image(t, "one")); err != nil {
		t.Fatal(err)
	}
	const one = "/v2/app/blobs/sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
	if code, body := do(t, "DELETE", "http://"+host+one, ""); code != 405 {
		t.Errorf("%d %s", code, body)
	}
	if code, body := do(t, "GET", "http://"+host+one, ""); code != 200 || body != "one" {
		t.Errorf("%d %s", code, body)
	}
}
