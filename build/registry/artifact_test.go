package registry

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const note = "application/vnd.example.note"

// attach pushes an image and a note on it, and returns what there is then to
// know of both.
func attach(t *testing.T, r Repository, tag, content string) (leg v1.Descriptor, list []v1.Descriptor) {
	t.Helper()
	leg, err := r.PutImage(t.Context(), tag, testImage(t, "linux/amd64", content))
	if err != nil {
		t.Fatal(err)
	}
	a := Artifact{Subject: leg, Type: note, File: "note.txt", Data: []byte("on " + content), Annotations: map[string]string{"a": "b"}}
	for range 2 { // it is there once
		if err := a.Attach(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	list, err = r.Referrers(t.Context(), leg.Digest.String())
	if err != nil || len(list) != 1 || list[0].ArtifactType != note || list[0].Annotations["a"] != "b" {
		t.Fatalf("%v, %v", list, err)
	}
	return leg, list
}

func TestAnArtifactRefersToItsSubject(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		return strings.Contains(r.URL.Path, "/referrers/") && refuse(w, 404, problem("NAME_UNKNOWN"))
	})
	c, _ := testClient(t, Options{})
	for _, r := range []Repository{open(t, c, s.host+"/app", Write), OpenLayout(t.TempDir(), "app")} {
		leg, list := attach(t, r, "v1", "x")
		m, err := r.Manifest(t.Context(), list[0].Digest.String())
		if err != nil {
			t.Fatal(err)
		}
		var got v1.Manifest
		if err := json.Unmarshal(m.Raw, &got); err != nil {
			t.Fatal(err)
		}
		if got.Subject.Digest != leg.Digest || got.Subject.Size != leg.Size || got.ArtifactType != note || got.Config.MediaType != emptyType ||
			got.Layers[0].Annotations[titleName] != "note.txt" || got.MediaType != types.OCIManifestSchema1 {
			t.Errorf("%s", m.Raw)
		}
		img, err := r.Image(t.Context(), m.Digest.String())
		if err != nil {
			t.Fatal(err)
		}
		layers, err := img.Layers()
		if err != nil {
			t.Fatal(err)
		}
		rc, err := layers[0].Compressed()
		if err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(rc); err != nil || string(data) != "on x" {
			t.Errorf("%q, %v", data, err)
		}
		rc.Close()
	}
}

func TestAReferrerStaysInALayoutAsLongAsItsSubject(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "app")
	r := OpenLayout(dir, "app")
	old, listOld := attach(t, r, "v1", "old")
	_, listOther := attach(t, r, "v2", "other")
	_ = Artifact{Subject: listOld[0], Type: note, File: "sig", Data: []byte("of a note")}.Attach(t.Context(), r)
	if tags, err := r.Tags(t.Context()); err != nil || !slices.Equal(tags, []string{"v1", "v2"}) {
		t.Errorf("%q, %v", tags, err)
	}
	index := entriesOf(t, dir)
	if len(index) != 5 || index[0].Annotations[refName] != "v1" || !untagged(index[2]) || index[2].ArtifactType != note {
		t.Errorf("%v", index)
	}
	recent, _ := attach(t, r, "v1", "new")
	if got := entriesOf(t, dir); len(got) != 4 {
		t.Errorf("%d entries, and want two images with a note each: %v", len(got), got)
	}
	for digest, want := range map[v1.Hash]int{old.Digest: 0, recent.Digest: 1} {
		if list, err := r.Referrers(t.Context(), digest.String()); err != nil || len(list) != want {
			t.Errorf("%s has %d, %v", digest, len(list), err)
		}
	}
	for digest, there := range map[v1.Hash]bool{
		listOld[0].Digest: false, listOther[0].Digest: true, digestOf([]byte("on old")): false, digestOf([]byte("of a note")): false, digestOf([]byte("{}")): true,
	} {
		if err := r.HasBlob(t.Context(), digest.String()); (err == nil) != there {
			t.Errorf("%s: %v, want it there: %v", digest, err, there)
		}
	}
}

// TestAReferrerOfAnIndexEntryStays: what a tag leads to is also what an index
// lists.
func TestAReferrerOfAnIndexEntryStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "app")
	r := OpenLayout(dir, "app")
	leg, _ := attach(t, r, "v1-amd64", "leg")
	raw, err := json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{leg}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewManifest(raw, types.OCIImageIndex)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{r.PutManifest(t.Context(), "v1", m), putImage(t, r, "v1-amd64", "another")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if list, err := r.Referrers(t.Context(), leg.Digest.String()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func putImage(t *testing.T, r Repository, tag, content string) error {
	_, err := r.PutImage(t.Context(), tag, testImage(t, "linux/amd64", content))
	return err
}

func entriesOf(t *testing.T, dir string) []v1.Descriptor {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(raw, &index); err != nil {
		t.Fatal(err)
	}
	return index.Manifests
}

// TestWhatArtifactsShareStays: the leg of another platform may just be writing
// its artifact, and rely on what it found.
func TestWhatArtifactsShareStays(t *testing.T) {
	r := OpenLayout(filepath.Join(t.TempDir(), "app"), "app")
	attach(t, r, "v1", "old")
	if err := putImage(t, r, "v1", "new"); err != nil {
		t.Fatal(err)
	}
	if err := r.HasBlob(t.Context(), digestOf([]byte(emptyConfig)).String()); err != nil {
		t.Error(err)
	}
}

// TestAttachingAsksNoMoreThanItHasTo: what is known beforehand, and what the
// registry says by itself, takes no request.
func TestAttachingAsksNoMoreThanItHasTo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		says   bool // the registry answers with OCI-Subject
		has    bool // the API
		asked  int  // times whether it has
		tagged int  // lists it had to be given
	}{
		{"it says that it lists", true, true, 0, 0},
		{"it lists, and does not say so", false, true, 1, 0},
		{"it does not list", false, false, 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if tt.says && r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/sha256:") {
					w.Header().Set("OCI-Subject", "sha256:"+strings.Repeat("0", 64))
				}
				if !strings.Contains(r.URL.Path, "/referrers/") {
					return false
				}
				if !tt.has {
					return refuse(w, 404, problem("UNSUPPORTED"))
				}
				w.Header().Set("Content-Type", string(types.OCIImageIndex))
				_, _ = io.WriteString(w, `{"schemaVersion":2,"manifests":[]}`)
				return true
			})
			c, _ := testClient(t, Options{})
			for _, name := range []string{"/app", "/app", "/other"} {
				r := open(t, c, s.host+name, Write)
				leg, err := r.PutImage(t.Context(), "v1", testImage(t, "linux/amd64", name+strconv.Itoa(s.count(""))))
				if err != nil {
					t.Fatal(err)
				}
				a := Artifact{Subject: leg, Type: note, File: "note.txt", Data: []byte(leg.Digest.String())}
				if err := a.Attach(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			asked := s.count("GET /v2/app/referrers/") + s.count("GET /v2/other/referrers/")
			tagged := s.count("PUT /v2/app/manifests/sha256-") + s.count("PUT /v2/other/manifests/sha256-")
			if asked != tt.asked || tagged != tt.tagged {
				t.Errorf("asked %d times, want %d; %d lists, want %d", asked, tt.asked, tagged, tt.tagged)
			}
			if n := s.count("HEAD /v2/app/blobs/" + digestOf([]byte(emptyConfig)).String()); n != 1 {
				t.Errorf("the config that notes share was asked for %d times", n)
			}
		})
	}
}

// TestWhatWasSentBeforeIsNotSentAgain: Send brings the blobs, and Attach has the
// manifest and the list left to write.
func TestWhatWasSentBeforeIsNotSentAgain(t *testing.T) {
	s := serve(t)
	c, _ := testClient(t, Options{})
	dir := filepath.Join(t.TempDir(), "app")
	for _, r := range []Repository{open(t, c, s.host+"/app", Write), OpenLayout(dir, "app")} {
		leg, err := r.PutImage(t.Context(), "v1", testImage(t, "linux/amd64", "x"))
		if err != nil {
			t.Fatal(err)
		}
		a := Artifact{Subject: leg, Type: note, File: "note.txt", Data: []byte("on x")}
		if err := a.Send(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		sent := s.count("POST ")
		if err := a.Attach(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if again := s.count("POST ") - sent; again != 0 {
			t.Errorf("%d blobs were sent again", again)
		}
		if err := r.HasBlob(t.Context(), digestOf(a.Data).String()); err != nil {
			t.Error(err)
		}
	}
	if n := s.count("POST "); n != 4 {
		t.Errorf("%d uploads, want a layer, a config, a note and its config", n)
	}
}
