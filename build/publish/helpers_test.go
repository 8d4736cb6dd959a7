package publish

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	ggcrregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/archmage-go/archmage/build/platform"
	"github.com/archmage-go/archmage/build/registry"
)

// server is a registry in process that notes writes and can fail.
type server struct {
	host  string
	mu    sync.Mutex
	wrote []string
	fail  func(r *http.Request) int // a status, or 0
	old   bool                      // no referrers API
}

func serve(t *testing.T) *server {
	t.Helper()
	inner := ggcrregistry.New(ggcrregistry.Logger(log.New(io.Discard, "", 0)), ggcrregistry.WithReferrersSupport(true))
	s := &server{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		fail, old := s.fail, s.old
		s.mu.Unlock()
		if old && strings.Contains(r.URL.Path, "/referrers/") {
			http.NotFound(w, r)
			return
		}
		if fail != nil {
			if code := fail(r); code != 0 {
				w.WriteHeader(code)
				return
			}
		}
		if r.Method == "PUT" && strings.Contains(r.URL.Path, "/manifests/") {
			s.mu.Lock()
			s.wrote = append(s.wrote, strings.Replace(strings.TrimPrefix(r.URL.Path, "/v2/"), "/manifests/", ":", 1))
			s.mu.Unlock()
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s.host = strings.TrimPrefix(srv.URL, "http://")
	return s
}

func (s *server) failing(f func(r *http.Request) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = f
}

func (s *server) withoutReferrers() { s.old = true }

// answering answers requests for a path that ends in part with a status.
func (s *server) answering(part string, code int) {
	s.failing(func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, part) {
			return code
		}
		return 0
	})
}

// writes are the references put since the last call.
func (s *server) writes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.wrote
	s.wrote = nil
	return list
}

func (s *server) repo(t *testing.T, name string) registry.Repository {
	t.Helper()
	c := registry.New(registry.Options{Auth: registry.Auth{DockerConfig: t.TempDir()}})
	r, err := c.Open(s.host+"/"+name, registry.Write)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// both runs a test on a registry and on a layout.
func both(t *testing.T, f func(t *testing.T, repo func(name string) registry.Repository)) {
	t.Run("registry", func(t *testing.T) {
		s := serve(t)
		f(t, func(name string) registry.Repository { return s.repo(t, name) })
	})
	t.Run("layout", func(t *testing.T) {
		dir := t.TempDir()
		f(t, func(name string) registry.Repository {
			return registry.OpenLayout(filepath.Join(dir, name), filepath.Join(dir, name))
		})
	})
}

// spec describes a test image.
type spec struct {
	platform    string
	content     string // of its layer; "" is the platform
	revision    string // "-" is none, "" is abc
	version     string // of its label; "" is none
	created     string // likewise
	docker      bool
	annotations map[string]string
}

func (s spec) image(t *testing.T) v1.Image {
	t.Helper()
	manifest, configType, layer := types.OCIManifestSchema1, types.OCIConfigJSON, types.OCIUncompressedLayer
	if s.docker {
		manifest, configType, layer = types.DockerManifestSchema2, types.DockerConfigJSON, types.DockerUncompressedLayer
	}
	p := parse(t, s.platform)
	config := &v1.ConfigFile{OS: p.OS, Architecture: p.Arch, Variant: p.Variant, RootFS: v1.RootFS{Type: "layers"}}
	if s.revision == "" {
		s.revision = "abc"
	}
	config.Config.Labels = map[string]string{}
	for label, value := range map[string]string{RevisionLabel: strings.Trim(s.revision, "-"), VersionLabel: s.version, CreatedLabel: s.created} {
		if value != "" {
			config.Config.Labels[label] = value
		}
	}
	img, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, manifest), configType), config)
	if err != nil {
		t.Fatal(err)
	}
	if s.content == "" {
		s.content = s.platform
	}
	if img, err = mutate.AppendLayers(img, static.NewLayer([]byte(s.content), layer)); err != nil {
		t.Fatal(err)
	}
	if s.annotations != nil {
		img = mutate.Annotations(img, s.annotations).(v1.Image)
	}
	return img
}

func parse(t *testing.T, text string) platform.Platform {
	t.Helper()
	p, err := platform.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func put(t *testing.T, r registry.Repository, tag string, s spec) v1.Descriptor {
	t.Helper()
	d, err := r.PutImage(t.Context(), tag, s.image(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// attested puts an index under tag as buildx does with provenance.
func attested(t *testing.T, r registry.Repository, tag string, specs ...spec) (images []v1.Descriptor, attestation v1.Descriptor) {
	t.Helper()
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	for _, s := range specs {
		d := put(t, r, "tmp", s)
		p := parse(t, s.platform)
		d.Platform = &v1.Platform{OS: p.OS, Architecture: p.Arch, Variant: p.Variant}
		images = append(images, d)
		index.Manifests = append(index.Manifests, d)
	}
	attestation = put(t, r, "tmp", spec{platform: "linux/amd64", content: "provenance"})
	attestation.Platform = &v1.Platform{OS: "unknown", Architecture: "unknown"}
	attestation.Annotations = map[string]string{
		"vnd.docker.reference.type": "attestation-manifest", "vnd.docker.reference.digest": images[0].Digest.String(),
	}
	foreign := attestation
	foreign.Annotations = map[string]string{
		"vnd.docker.reference.type": "attestation-manifest", "vnd.docker.reference.digest": "sha256:" + strings.Repeat("0", 64),
	}
	index.Manifests = append(index.Manifests, attestation, foreign)
	putIndex(t, r, tag, index)
	return images, attestation
}

func putIndex(t *testing.T, r registry.Repository, tag string, index v1.IndexManifest) {
	t.Helper()
	raw, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	m, err := registry.NewManifest(raw, index.MediaType)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.PutManifest(t.Context(), tag, m); err != nil {
		t.Fatal(err)
	}
}

// join is an image with a leg per platform.
func join(t *testing.T, r registry.Repository, platforms string, tags ...string) Join {
	t.Helper()
	j := Join{Image: "app", Repo: r, Tags: tags, Version: "v1.0.0"}
	list, _, err := platform.ParseList(platforms)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		j.Legs = append(j.Legs, Leg{Platform: p, Tag: "dev-" + p.Suffix()})
	}
	return j
}

func pushed(t *testing.T, r registry.Repository, platforms string, tags ...string) Join {
	t.Helper()
	j := join(t, r, platforms, tags...)
	for _, leg := range j.Legs {
		put(t, r, leg.Tag, spec{platform: leg.Platform.String()})
	}
	return j
}

func names(t *testing.T, r registry.Repository, tag string) v1.IndexManifest {
	t.Helper()
	m, err := r.Manifest(t.Context(), tag)
	if err != nil {
		t.Fatal(err)
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(m.Raw, &index); err != nil {
		t.Fatal(err)
	}
	return index
}

func tags(t *testing.T, r registry.Repository) []string {
	t.Helper()
	list, err := r.Tags(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(s string) bool { return strings.HasPrefix(s, "dev-") || s == "tmp" })
}
