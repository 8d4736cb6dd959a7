package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/rogpeppe/go-internal/testscript"
)

// printSBOMs prints the SPDX documents that are attached to an image, indented,
// or "none".
// usage: sbom REF
func printSBOMs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sbom REF")
	}
	subject, err := readImage(ts, args[0]).Digest()
	ts.Check(err)
	found := false
	for _, img := range referrersOf(ts, args[0], subject) {
		m, err := img.Manifest()
		ts.Check(err)
		if m.ArtifactType != "application/spdx+json" || m.Subject.Digest != subject {
			continue
		}
		found = true
		fmt.Fprintln(ts.Stdout(), m.Layers[0].Annotations["org.opencontainers.image.title"])
		l, err := img.LayerByDigest(m.Layers[0].Digest)
		ts.Check(err)
		rc, err := l.Compressed()
		ts.Check(err)
		data, err := io.ReadAll(rc)
		ts.Check(err)
		var out bytes.Buffer
		ts.Check(json.Indent(&out, data, "", "  "))
		fmt.Fprint(ts.Stdout(), out.String())
	}
	if !found {
		fmt.Fprintln(ts.Stdout(), "none")
	}
}

// referrersOf are the manifests that refer to subject: entries of index.json in
// a layout, what the registry lists elsewhere.
func referrersOf(ts *testscript.TestScript, ref string, subject v1.Hash) (list []v1.Image) {
	ref, _, _ = strings.Cut(ref, ",")
	if dir, _, ok := layoutRef(ref); ok {
		idx, err := layout.ImageIndexFromPath(ts.MkAbs(dir))
		ts.Check(err)
		m, err := idx.IndexManifest()
		ts.Check(err)
		for _, d := range m.Manifests {
			img, err := idx.Image(d.Digest)
			if err != nil {
				continue // an index
			}
			if own, err := img.Manifest(); err == nil && own.Subject != nil && own.Subject.Digest == subject {
				list = append(list, img)
			}
		}
		return list
	}
	r, err := name.ParseReference(ref)
	ts.Check(err)
	idx, err := remote.Referrers(r.Context().Digest(subject.String()))
	ts.Check(err)
	m, err := idx.IndexManifest()
	ts.Check(err)
	for _, d := range m.Manifests {
		img, err := remote.Image(r.Context().Digest(d.Digest.String()))
		ts.Check(err)
		list = append(list, img)
	}
	return list
}

// startCounting starts a registry that writes each request into a file, and sets
// NAME to its host:port. With noapi it has no referrers API; with nowrites it
// takes none either. usage: counting NAME FILE [noapi | nowrites]
func startCounting(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: counting NAME FILE [noapi | nowrites]")
	}
	mode := strings.Join(args[2:], "")
	handler := registry.New(registry.Logger(discard), registry.WithReferrersSupport(mode != "noapi"))
	log, err := os.OpenFile(ts.MkAbs(args[1]), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	ts.Check(err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(log, "%s %s\n", r.Method, r.URL.Path)
		if mode == "nowrites" && r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/sha256:") {
			http.Error(w, `{"errors":[{"code":"MANIFEST_INVALID","message":"no artifacts here"}]}`, http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	ts.Defer(func() { s.Close(); log.Close() })
	ts.Setenv(args[0], strings.TrimPrefix(s.URL, "http://"))
}
