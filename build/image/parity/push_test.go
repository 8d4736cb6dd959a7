package parity

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
)

func emptyIndex() v1.ImageIndex { return empty.Index }

// What push writes, a registry has under its tag, and pushing again is no error.
func TestPushFillsARegistry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	c := Checker{Registry: host}
	for range 2 {
		if err := c.PushBases(t.Context(), "testdata/bases"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"tiny", "single", "docker", "empty"} {
		if _, err := send(t.Context(), "GET", server.URL+"/v2/parity/"+name+"/manifests/latest", "", nil); err != nil {
			t.Error(err)
		}
	}
	if len(c.rules().Bases) < 12 {
		t.Errorf("%d diff IDs of bases are known", len(c.rules().Bases))
	}
}
