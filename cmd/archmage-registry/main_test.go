package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/registry"
)

// start runs the command until the returned function is called, which gives its
// exit code and what it logged.
func start(t *testing.T, dir string) (host string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	var log bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- execute(ctx, []string{"--dir", dir, "--listen", "127.0.0.1:0"}, w, &log)
		w.Close()
	}()
	if _, err := fmt.Fscanln(r, &host); err != nil {
		t.Fatalf("%v, exit code %d, %s", err, <-code, log.String())
	}
	stopped := false
	stop = func() (int, string) {
		stopped = true
		cancel()
		return <-code, log.String()
	}
	t.Cleanup(func() {
		if !stopped {
			stop()
		}
	})
	return host, stop
}

func repo(t *testing.T, host, name string) registry.Repository {
	t.Helper()
	c := registry.New(registry.Options{Auth: registry.Auth{DockerConfig: t.TempDir()}})
	r, err := c.Open(host+"/"+name, registry.Write)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func image(t *testing.T, content string) v1.Image {
	t.Helper()
	img, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), static.NewLayer([]byte(content), types.OCIUncompressedLayer))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func manifest(t *testing.T, x interface{ RawManifest() ([]byte, error) }, mt types.MediaType) registry.Manifest {
	t.Helper()
	raw, err := x.RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	m, err := registry.NewManifest(raw, mt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWhatWasPushedIsThereAfterARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "images")
	host, stop := start(t, dir)
	app := repo(t, host, "org/app")
	img := image(t, "one")
	pushed, err := app.PutImage(t.Context(), "v1-amd64", img)
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{Add: img})
	outer := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{Add: index})
	for tag, x := range map[string]v1.ImageIndex{"inner": index} {
		if err := app.PutManifest(t.Context(), tag, manifest(t, x, types.OCIImageIndex)); err != nil {
			t.Fatal(err)
		}
	}
	// An index of an index, under a name that is read first.
	if err := app.PutManifest(t.Context(), "a", manifest(t, outer, types.OCIImageIndex)); err != nil {
		t.Fatal(err)
	}
	code, log := stop()
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(log, "PUT /v2/org/app/manifests/v1-amd64 201\n") || strings.Contains(log, "GET") {
		t.Errorf("log:\n%s", log)
	}

	host, _ = start(t, dir)
	app = repo(t, host, "org/app")
	if tags, err := app.Tags(t.Context()); err != nil || !slices.Equal(tags, []string{"a", "inner", "v1-amd64"}) {
		t.Errorf("%q, %v", tags, err)
	}
	d, err := app.Head(t.Context(), "v1-amd64")
	if err != nil || d.Digest != pushed.Digest || d.MediaType != pushed.MediaType {
		t.Errorf("%+v, %v", d, err)
	}
	back, err := app.Image(t.Context(), pushed.Digest.String())
	if err != nil {
		t.Fatal(err)
	}
	layers, _ := back.Layers()
	rc, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(rc); string(got) != "one" {
		t.Errorf("layer %q", got)
	}
}

func do(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

func TestBadPutsAreRefusedAndNotKept(t *testing.T) {
	dir := t.TempDir()
	host, stop := start(t, dir)
	const oci = string(types.OCIImageIndex)
	missing := `{"schemaVersion":2,"manifests":[{"mediaType":"` + string(types.OCIManifestSchema1) + `","size":1,"digest":"sha256:` + strings.Repeat("0", 64) + `"}]}`
	for path, want := range map[string]int{
		"/v2/UPPER/manifests/v1":                                          400,
		"/v2/_refs/manifests/v1":                                          400,
		"/v2/a/..%2f..%2fx/manifests/v1":                                  400,
		"/v2/app/manifests/-x":                                            400,
		"/v2/app/manifests/":                                              400,
		"/v2/app/manifests/sha256:" + strings.Repeat("1", 64):             400,
		"/v2/app/manifests/names-what-is-not-there":                       404,
		"/v2/app/blobs/uploads/?digest=sha256:" + strings.Repeat("1", 64): 400,
	} {
		method := "PUT"
		if strings.Contains(path, "uploads") {
			method = "POST"
		}
		if code, body := do(t, method, "http://"+host+path, missing, "Content-Type", oci); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, _ := do(t, "PUT", "http://"+host+"/v2/app/manifests/big", strings.Repeat("x", maxManifest+1)); code != 413 {
		t.Errorf("a huge manifest: %d", code)
	}
	stop()
	var files []string
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	if len(files) != 0 {
		t.Errorf("kept %q", files)
	}
}

func TestUploadsThatAKilledRegistryLeftGo(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "blobs", uploading+"1")
	if err := os.MkdirAll(filepath.Dir(left), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
	if _, err := os.Stat(left); err == nil {
		t.Error("it is still there")
	}
}

func TestLayersOfOneRepositoryCanBePushedToAnother(t *testing.T) {
	host, _ := start(t, t.TempDir())
	img := image(t, "one")
	if _, err := repo(t, host, "base").PutImage(t.Context(), "v1", img); err != nil {
		t.Fatal(err)
	}
	h, _ := img.Digest()
	from, err := repo(t, host, "base").Image(t.Context(), h.String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo(t, host, "app").PutImage(t.Context(), "v1", from); err != nil {
		t.Error(err)
	}
}

func TestExitCodes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	broken := t.TempDir()
	refs := filepath.Join(broken, "manifests", "app", "_refs")
	if err := os.MkdirAll(refs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(refs, "v1"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--help"}, 0, ""},
		{[]string{"--nosuch"}, 2, "unknown flag"},
		{[]string{"extra"}, 2, `unknown argument "extra"`},
		{[]string{"--listen", "5000"}, 2, "write host:port"},
		{[]string{"--listen", ":5000"}, 2, "--insecure-allow-remote"},
		{[]string{"--listen", "0.0.0.0:5000"}, 2, "--insecure-allow-remote"},
		{[]string{"--listen", "192.168.1.1:5000"}, 2, "--insecure-allow-remote"},
		{[]string{"--listen", "[::]:5000"}, 2, "--insecure-allow-remote"},
		{[]string{"--listen", "127.0.0.1:99999", "--dir", t.TempDir()}, 1, "listen on 127.0.0.1:99999"},
		{[]string{"--listen", "127.0.0.1:0", "--dir", file}, 1, "open " + file},
		{[]string{"--listen", "127.0.0.1:0", "--dir", broken}, 1, filepath.Join(refs, "v1")},
	} {
		var out, log bytes.Buffer
		if code := execute(t.Context(), tt.args, &out, &log); code != tt.code || !strings.Contains(log.String(), tt.says) {
			t.Errorf("%q: exit code %d, %s", tt.args, code, log.String())
		}
	}
	for _, listen := range []string{"localhost:1", "127.0.0.2:1", "[::1]:1"} {
		if err := checkListen(settings{listen: listen}); err != nil {
			t.Error(err)
		}
	}
	if err := checkListen(settings{listen: "0.0.0.0:5000", remote: true}); err != nil {
		t.Error(err)
	}
}
