//go:build engines

package build

import (
	"os"
	"testing"
)

// TestEnginesSchedules plays the schedules in front of Debian's docker-registry,
// as scripts/engines starts it.
func TestEnginesSchedules(t *testing.T) {
	host := os.Getenv("ENGINES_REGISTRY")
	if host == "" {
		t.Fatal(`no registry, as ENGINES_REGISTRY is not set: scripts/engines up, then eval "$(scripts/engines env)"`)
	}
	playAll(t, func(*testing.T) upstream { return upstream{"http://" + host} })
}
