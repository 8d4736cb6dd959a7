package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// exits runs a program that must exit with exactly this code. Its output can be
// matched afterwards. usage: exits CODE PROGRAM [ARG…]
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s exited with %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// startRegistry starts a registry in process and sets NAME to its host:port.
// usage: registry NAME [login USER PASSWORD | fails STATUS]
func startRegistry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: registry NAME [login USER PASSWORD | fails STATUS]")
	}
	handler := registry.New(registry.Logger(discard), registry.WithReferrersSupport(true))
	switch {
	case len(args) == 4 && args[1] == "login":
		handler = demandLogin(handler, args[2], args[3])
	case len(args) == 3 && args[1] == "fails":
		code, err := strconv.Atoi(args[2])
		ts.Check(err)
		handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	case len(args) > 1:
		ts.Fatalf("registry: unknown words %q", args[1:])
	}
	s := httptest.NewServer(handler)
	ts.Defer(s.Close)
	ts.Setenv(args[0], strings.TrimPrefix(s.URL, "http://"))
}

func demandLogin(next http.Handler, user, password string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// pushBase pushes a small base image: one image for one platform, an index for
// several. It holds /etc/passwd with the user app (1000:1000), /lib linked to
// /usr/lib, and sets PATH and a label. Its digest goes to stdout.
// usage: base REF PLATFORM…
func pushBase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: base REF PLATFORM…")
	}
	ref, err := name.ParseReference(args[0])
	ts.Check(err)
	var adds []mutate.IndexAddendum
	for _, text := range args[1:] {
		p, err := v1.ParsePlatform(text)
		ts.Check(err)
		img, err := baseImage(*p)
		ts.Check(err)
		if len(args) == 2 {
			ts.Check(remote.Write(ref, img))
			printDigest(ts, img)
			return
		}
		adds = append(adds, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: p}})
	}
	index := mutate.AppendManifests(empty.Index, adds...)
	ts.Check(remote.WriteIndex(ref, index))
	printDigest(ts, index)
}

func printDigest(ts *testscript.TestScript, of interface{ Digest() (v1.Hash, error) }) {
	digest, err := of.Digest()
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), digest)
}

func baseImage(p v1.Platform) (v1.Image, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for _, h := range []tar.Header{
		{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "etc/passwd", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(passwd))},
		{Name: "etc/arch", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(p.Architecture))},
		{Name: "usr/lib/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "lib", Typeflag: tar.TypeSymlink, Linkname: "usr/lib", Mode: 0o777},
	} {
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		switch h.Name {
		case "etc/passwd":
			fmt.Fprint(w, passwd)
		case "etc/arch":
			fmt.Fprint(w, p.Architecture)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.Bytes())), nil })
	if err != nil {
		return nil, err
	}
	img, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: p.OS, Architecture: p.Architecture, Variant: p.Variant,
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Env:    []string{"PATH=/usr/bin:/bin", "BASE=yes"},
			Labels: map[string]string{"org.opencontainers.image.title": "the base", "from": "base"},
		},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(img, mutate.Addendum{Layer: l, History: v1.History{CreatedBy: "base"}})
}

const passwd = "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000:app:/:/bin/false\n"

// extract writes a project of testdata/<NAME>.txtar. usage: fixture NAME [DIR]
func extract(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: fixture NAME [DIR]")
	}
	dir := ts.MkAbs(strings.Join(args[1:], ""))
	archive, err := txtar.ParseFile("testdata/" + args[0] + ".txtar")
	ts.Check(err)
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(txtar.Write(archive, dir))
}

// makeRepository commits everything in a directory. usage: repo [DIR]
func makeRepository(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: repo [DIR]")
	}
	dir := strings.Join(append(args, "."), "/")
	for _, words := range [][]string{{"init", "-q", "-b", "main", dir}, {"-C", dir, "add", "-A"}, {"-C", dir, "commit", "-qm", "all"}} {
		ts.Check(ts.Exec("git", words...))
	}
}

var discard = log.New(io.Discard, "", 0)
