package build

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestLegsAreBuiltWhileOthersArePushed lets no upload end before four images are
// being uploaded, with one job.
func TestLegsAreBuiltWhileOthersArePushed(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	w := newWire(t, false)
	f := newFleet(t, w.host+"/x", "scratch", 4)
	var mu sync.Mutex
	uploading := map[string]bool{}
	all := make(chan struct{})
	w.hold = func(r *http.Request) {
		image, _, upload := strings.Cut(r.URL.Path, "/blobs/")
		if r.Method != http.MethodPut || !upload {
			return
		}
		mu.Lock()
		uploading[image] = true
		if len(uploading) == 4 {
			select {
			case <-all:
			default:
				close(all)
			}
		}
		mu.Unlock()
		select {
		case <-all:
		case <-time.After(time.Minute):
			t.Error("a leg waits for the upload of another")
		}
	}
	f.jobs = "1"
	f.platforms = "linux/amd64"
	f.push()
}
