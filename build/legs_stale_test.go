package build

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	ggcrregistry "github.com/google/go-containerregistry/pkg/registry"
)

// remembers gives a test a cache of its own.
func remembers(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
}

// hooked is an empty registry that calls hook before it first answers for a
// blob; all questions for blobs wait for that.
func hooked(t *testing.T, hook func()) (prefix string) {
	t.Helper()
	var once sync.Once
	inner := ggcrregistry.New(ggcrregistry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/blobs/") {
			once.Do(hook)
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/team"
}

// references are the digests that a run printed, in order.
func references(t *testing.T, o outcome) string {
	t.Helper()
	if o.code != 0 {
		t.Fatalf("exit %d: %s", o.code, o.errOut)
	}
	var digests []string
	for line := range strings.Lines(o.out) {
		_, digest, _ := strings.Cut(line, "@")
		digests = append(digests, digest)
	}
	return strings.Join(digests, "")
}

// Digests are remembered of files that then change, before the registry asks for
// the bytes: the leg is built again, from what the files hold now. It is one leg,
// since others would be reading them.
func TestALegIsBuiltAgainWhereItsMemoryIsStale(t *testing.T) {
	remembers(t)
	before, after := releases()
	s := newSite(t, "", before)
	push := map[string]string{"PUSH": "true", "WHAT": "app", "IMAGE_PLATFORMS": "linux/amd64"}
	run := func(to string) string {
		s.to = to
		return references(t, s.verb("image", before, push))
	}
	old := run(hooked(t, func() {}))
	if again := run(hooked(t, func() {})); again != old {
		t.Fatalf("%s, remembered %s", old, again)
	}
	changed := run(hooked(t, func() { s.checkout(after) }))
	remembers(t)
	if cold := run(hooked(t, func() {})); changed != cold || changed == old {
		t.Errorf("was\n%s\nchanged\n%s\nwant\n%s", old, changed, cold)
	}
}

// What an audit refuses is refused in every run.
func TestARefusedLegIsRefusedAgain(t *testing.T) {
	remembers(t)
	r, _ := releases()
	s := newSite(t, "", r)
	macho := append([]byte("\xcf\xfa\xed\xfe\x0c\x00\x00\x01\x00\x00\x00\x00\x02"), make([]byte, 19)...)
	if err := os.WriteFile(filepath.Join(s.root, "data/app"), macho, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		o := s.verb("image", r, nil)
		if o.code != 4 || !strings.Contains(o.errOut, "/data/app: Mach-O arm64 file") {
			t.Errorf("exit %d: %s", o.code, o.errOut)
		}
	}
}
