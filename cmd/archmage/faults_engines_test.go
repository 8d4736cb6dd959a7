//go:build engines

package main

import (
	"net/url"
	"os"
	"testing"
)

// TestEnginesAKilledRunIsCompletedByTheNext kills runs that publish to Debian's
// docker-registry, as scripts/engines starts it.
func TestEnginesAKilledRunIsCompletedByTheNext(t *testing.T) {
	if _, err := enginesEnv(); err != nil {
		t.Fatal(err)
	}
	killAll(t, func(*testing.T) *url.URL { return &url.URL{Scheme: "http", Host: os.Getenv("ENGINES_REGISTRY")} })
}
