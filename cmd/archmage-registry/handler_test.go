package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// blob pushes one in one request.
func blob(t *testing.T, host, name, content string) string {
	t.Helper()
	h, _, err := v1.SHA256(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if code, body := do(t, "POST", "http://"+host+"/v2/"+name+"/blobs/uploads/?digest="+h.String(), content); code != 201 {
		t.Fatalf("push a blob: %d %s", code, body)
	}
	return h.String()
}

func TestReferrersSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	host, stop := start(t, dir)
	d, err := repo(t, host, "app").PutImage(t.Context(), "v1", image(t, "one"))
	if err != nil {
		t.Fatal(err)
	}
	none := blob(t, host, "app", "{}")
	for _, kind := range []string{"application/spdx+json", "application/vnd.example"} {
		m := fmt.Sprintf(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":%q,`+
			`"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":%q,"size":2},"layers":[],`+
			`"subject":{"mediaType":%q,"digest":%q,"size":%d}}`, kind, none, d.MediaType, d.Digest, d.Size)
		h, _, _ := v1.SHA256(strings.NewReader(m))
		code, body := do(t, "PUT", "http://"+host+"/v2/app/manifests/"+h.String(), m, "Content-Type", "application/vnd.oci.image.manifest.v1+json")
		if code != 201 {
			t.Fatalf("%d %s", code, body)
		}
	}
	list := "/v2/app/referrers/" + d.Digest.String()
	_, before := do(t, "GET", "http://"+host+list, "")
	stop()
	host, _ = start(t, dir)
	if _, after := do(t, "GET", "http://"+host+list, ""); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	for query, want := range map[string]int{"": 2, "?artifactType=application/spdx%2Bjson": 1, "?artifactType=none": 0} {
		_, body := do(t, "GET", "http://"+host+list+query, "")
		var index v1.IndexManifest
		if err := json.Unmarshal([]byte(body), &index); err != nil || len(index.Manifests) != want {
			t.Errorf("%q: %v, %s", query, err, body)
		}
	}
	if code, body := do(t, "GET", "http://"+host+"/v2/nosuch/referrers/"+d.Digest.String(), ""); code != 200 || !strings.Contains(body, `"manifests":[]`) {
		t.Errorf("of nothing: %d %s", code, body)
	}
}

func TestDownloadsGoOnWhereTheyBroke(t *testing.T) {
	host, _ := start(t, t.TempDir())
	url := "http://" + host + "/v2/app/blobs/" + blob(t, host, "app", "0123456789")
	for r, want := range map[string]string{"bytes=4-": "456789", "bytes=4-5": "45", "bytes=-3": "789", "bytes=8-20": "89"} {
		if code, body := do(t, "GET", url, "", "Range", r); code != 206 || body != want {
			t.Errorf("%s: %d %q", r, code, body)
		}
	}
	if code, _ := do(t, "GET", url, "", "Range", "bytes=10-"); code != 416 {
		t.Errorf("behind the end: %d", code)
	}
}

func TestTagsComeInPages(t *testing.T) {
	host, _ := start(t, t.TempDir())
	for _, tag := range []string{"a", "b", "c"} {
		if code, body := do(t, "PUT", "http://"+host+"/v2/app/manifests/"+tag, "{}"); code != 201 {
			t.Fatalf("%d %s", code, body)
		}
	}
	for _, tt := range []struct{ query, tags, link string }{
		{"", `["a","b","c"]`, ""},
		{"?n=2", `["a","b"]`, `</v2/app/tags/list?last=b&n=2>; rel="next"`},
		{"?last=b&n=2", `["c"]`, ""},
		{"?n=3", `["a","b","c"]`, ""},
		{"?last=aa&n=1", `["b"]`, `</v2/app/tags/list?last=b&n=1>; rel="next"`},
		{"?last=c", `[]`, ""},
		{"?n=0", `[]`, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+host+"/v2/app/tags/list"+tt.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var list struct{ Tags json.RawMessage }
		err = json.NewDecoder(resp.Body).Decode(&list)
		resp.Body.Close()
		if err != nil || string(list.Tags) != tt.tags || resp.Header.Get("Link") != tt.link {
			t.Errorf("%q: %v, %s, %q", tt.query, err, list.Tags, resp.Header.Get("Link"))
		}
	}
	for query, want := range map[string]int{"?n=x": 400, "?n=-1": 400} {
		if code, _ := do(t, "GET", "http://"+host+"/v2/app/tags/list"+query, ""); code != want {
			t.Errorf("%q: %d", query, code)
		}
	}
	if code, _ := do(t, "GET", "http://"+host+"/v2/nosuch/tags/list", ""); code != 404 {
		t.Errorf("no repository: %d", code)
	}
}

func TestUploadsAreNamedByTheirIDs(t *testing.T) {
	dir := t.TempDir()
	host, _ := start(t, dir)
	blob(t, host, "app", "{}")
	for path, want := range map[string]int{
		"/v2/app/blobs/uploads/1":                404,
		"/v2/app/blobs/uploads/..%2fsha256":      400,
		"/v2/app/blobs/uploads/x":                404,
		"/v2/UPPER/blobs/uploads/1":              400,
		"/v2/app/..%2f..%2fapp/blobs/uploads/1/": 400,
	} {
		for _, method := range []string{"GET", "PATCH", "PUT", "DELETE"} {
			if code, body := do(t, method, "http://"+host+path, ""); code != want {
				t.Errorf("%s %s: %d %s", method, path, code, body)
			}
		}
	}
	if code, _ := do(t, "POST", "http://"+host+"/v2/UPPER/blobs/uploads/", ""); code != 400 {
		t.Errorf("a name that is not legal: %d", code)
	}
}
