package build

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// TestAnSBOMIsSentBesideItsLeg: nothing of either waits for a blob of the other.
func TestAnSBOMIsSentBesideItsLeg(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	w := newWire(t, false)
	f := newFleet(t, w.host, "scratch", 1)
	f.platforms, f.sbom = "linux/amd64", "true"

	const blobs = 4 // layer, config, SBOM, and the config that SBOMs share
	var mu sync.Mutex
	begun, all := 0, make(chan struct{})
	w.hold = func(r *http.Request) {
		if kindOf(r) != "PUT blob" {
			return
		}
		mu.Lock()
		if begun++; begun == blobs {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
		case <-time.After(10 * time.Second):
			t.Errorf("a blob waits for another to be sent")
		}
	}
	f.push()
	if begun != blobs {
		t.Errorf("%d blobs were sent, want %d", begun, blobs)
	}
}
