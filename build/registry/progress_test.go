package registry

import (
	"io"
	"net/http"
	"sync"
	"testing"
)

// Every layer that is sent is told of, up to its last byte; one whose upload is
// repeated begins again.
func TestProgressOfUploads(t *testing.T) {
	var mu sync.Mutex
	failed := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		mu.Lock()
		defer mu.Unlock()
		if r.Method != http.MethodPut || r.URL.Query().Get("digest") == "" || failed > 0 {
			return false
		}
		failed++
		_, _ = io.Copy(io.Discard, r.Body)
		return refuse(w, 503, "")
	})
	told := map[string][]Transfer{}
	c, _ := testClient(t, Options{RetryMax: 2, Progress: func(p Transfer) {
		mu.Lock()
		defer mu.Unlock()
		told[p.Digest] = append(told[p.Digest], p)
	}})
	r := open(t, c, s.host+"/app", Write)
	img := testImage(t, "linux/amd64", "one", "two")
	if _, err := r.PutImage(t.Context(), "v1", img); err != nil {
		t.Fatal(err)
	}
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range append(m.Layers, m.Config) {
		list := told[l.Digest.String()]
		if len(list) == 0 {
			t.Fatalf("%s is not told of", l.Digest)
		}
		if last := list[len(list)-1]; last != (Transfer{r.Name(), l.Digest.String(), l.Size, l.Size}) {
			t.Errorf("%+v", last)
		}
	}
	if failed != 1 {
		t.Error("nothing was repeated")
	}
}
